import ExposureApp
import ExposureNotification
import Foundation
import PhoneProcess
import Secrets
import Synchronization
import World

/// A real phone for the bridge. Requests that need consent go through `Phone.perform(_:)`, which grants it.
package final class PhoneOfBridge: BridgePhone {
  private struct Progress {
    var isChecking = false
    var upload: String?
    var choice = PhoneChoice(language: "en", hidesDetails: false, notifications: true, statistics: false)
  }

  private let phone: Phone
  private let version: String
  private let progress = Mutex(Progress())

  /// - Parameter version: The version of the program.
  package init(_ phone: Phone, version: String) {
    self.phone = phone
    self.version = version
  }

  package var changes: AsyncStream<Void> {
    let changes = phone.app.stateChanges
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let reading = Task {
      for await change in changes {
        note(change.reason)
        continuation.yield()
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in reading.cancel() }
    return stream
  }

  private func note(_ reason: StateChange.Reason) {
    progress.withLock { progress in
      switch reason {
      case .checkStarted: progress.isChecking = true
      case .checkFinished: progress.isChecking = false
      case .uploadProgress(.waitingForConsent): progress.upload = "waitingForConsent"
      case .uploadProgress(.requestingToken): progress.upload = "requestingToken"
      case .uploadProgress(.sending): progress.upload = "sending"
      case .uploadProgress(.finished): progress.upload = nil
      default: break
      }
    }
  }

  package func state() async -> PhoneState {
    let (current, onboarding) = (await phone.app.currentState, await phone.app.onboarding)
    let progress = progress.withLock { $0 }
    var state = PhoneState()
    state.onboarding =
      switch onboarding {
      case .askToEnable, .restricted: "new"
      case .secondChance: "declined"
      case .readyToFinish: "consented"
      case .finished: "finished"
      }
    state.isSupported = onboarding != .restricted
    state.isEnabled = phone.device.isEnabled
    state.isAuthorized = phone.device.authorizationStatus == .authorized
    state.isBluetoothOn = current.service.isBluetoothOn
    state.riskLevel = current.riskLevel == .unknown ? nil : current.riskLevel.rawValue
    state.exposureCount = current.exposureCount
    state.lastCheck = current.lastCheck
    state.lastFailure = current.lastFailure?.rawValue
    state.nextCheck = current.nextCheck
    state.isChecking = progress.isChecking
    state.configurationRefused = await phone.app.configurationRefusal.map { "\($0)" }
    state.storage = current.storage.rawValue
    state.damaged = current.damage.map(\.content.rawValue)
    state.hasPendingUpload = current.hasPendingUpload
    state.upload = progress.upload
    state.language = progress.choice.language ?? "en"
    state.hidesDetails = progress.choice.hidesDetails ?? false
    state.notifications = progress.choice.notifications ?? true
    state.isDeveloper = phone.developerRadio != nil
    state.region = phone.settings.app.region
    state.lastCheckKeys = await phone.app.analyzeChecks.last?.keysCount ?? 0
    state.notices = await phone.notices.shown.map {
      PhoneState.Notice(
        id: $0.identifier, kind: $0.identifier, time: $0.time, title: $0.title, body: $0.body)
    }
    state.version = version
    state.now = phone.clock.now
    return state
  }

  package func services() async -> PhoneServices {
    let service = await phone.app.serviceStatus
    return PhoneServices(
      exposureNotifications: service.exposureNotifications.rawValue,
      isBluetoothOn: service.isBluetoothOn,
      areNotificationsOn: progress.withLock { $0.choice.notifications ?? true })
  }
}

// MARK: Changes by the owner

extension PhoneOfBridge {
  package func setExposureNotifications(_ isOn: Bool) async throws(BridgePhoneError) {
    try await perform(isOn ? .enable : .disable)
  }

  package func choose(_ choice: PhoneChoice) async throws(BridgePhoneError) {
    progress.withLock { progress in
      progress.choice.language = choice.language ?? progress.choice.language
      progress.choice.hidesDetails = choice.hidesDetails ?? progress.choice.hidesDetails
      progress.choice.notifications = choice.notifications ?? progress.choice.notifications
      progress.choice.statistics = choice.statistics ?? progress.choice.statistics
    }
  }

  package func wantsStatistics() async -> Bool {
    progress.withLock { $0.choice.statistics ?? false }
  }

  package func remove(_ what: PhoneRemoval) async throws(BridgePhoneError) {
    try await perform(.remove(PhoneOperation.Removal(rawValue: what.rawValue) ?? .notices))
  }

  package func onboard(_ step: PhoneOnboarding) async throws(BridgePhoneError) {
    switch step {
    case .consent: try await perform(.enable)
    case .decline: break
    case .finish:
      do { try await phone.app.finishOnboarding() } catch { throw .failed(error.description) }
    }
  }

  package func travel(to region: String?) async throws(BridgePhoneError) -> JSONValue {
    if let region, !TravelLimit.isRegion(region) {
      throw .badRequest("A region is a code such as PL or US-CA.")
    }
    return JSONValue(try await perform(.travel(to: region)).json ?? "") ?? .null
  }

  package func develop(_ action: String) async throws(BridgePhoneError) -> String {
    guard phone.developerRadio != nil else { throw .notDeveloper }
    throw .failed("This phone does not have \(action).")
  }

  /// Performs an operation with the owner's consent.
  @discardableResult
  private func perform(
    _ operation: PhoneOperation, pin: ZeroingBytes = ZeroingBytes(count: 0) { _ in }
  ) async throws(BridgePhoneError) -> PhoneReply {
    let reply = await phone.perform(PhoneRequest(operation, pin: pin))
    switch reply.status {
    case .done: return reply
    case .badInput: throw .badRequest(reply.text)
    case .refused, .failed:
      guard reply.json != nil else { throw .failed(reply.text) }
      return reply
    }
  }
}

// MARK: Checks, exposures and uploads

extension PhoneOfBridge {
  package func activities() async -> PhoneActivities {
    var activities = PhoneActivities()
    activities.notifications = await phone.notices.shown.map {
      PhoneActivities.Notification(
        id: $0.identifier, time: $0.time, title: $0.title, content: $0.body)
    }
    activities.riskChecks = await phone.app.analyzeChecks.map {
      PhoneActivities.RiskCheck(
        id: String($0.date.unixSeconds), time: $0.date, exposures: $0.matchedKeyCount,
        keys: $0.keysCount)
    }
    for check in await phone.app.riskChecks where check.matchedKeyCount > 0 {
      activities.exposures.append(
        PhoneActivities.Exposure(
          id: String(check.date.unixSeconds), time: check.date, exposures: check.matchedKeyCount,
          riskLevel: max(0, await phone.app.riskLevel(of: check).rawValue)))
    }
    return activities
  }

  package func removeActivities(_ rows: PhoneActivityRows) async throws(BridgePhoneError) {}

  package func checkTotals() async -> PhoneCheckTotals {
    let totals = await phone.app.checkTotals
    return PhoneCheckTotals(
      lastCheck: totals.lastCheck, today: totals.todayKeysCount,
      lastSevenDays: totals.last7DaysKeysCount, total: totals.totalKeysCount)
  }

  package func upload(_ upload: PhoneUpload) async -> PhoneUploadResult {
    let request = PhoneRequest(.upload(sharesAbroad: upload.sharesAbroad), pin: upload.pin)
    let report = JSONValue(await phone.perform(request).json ?? "")
    return PhoneUploadResult(
      result: report?["result"]?.asInteger ?? 2, reason: report?["reason"]?.asString)
  }

  package func resolveUpload(
    continuing: Bool
  ) async throws(BridgePhoneError) -> PhoneUploadResult {
    throw .failed("Enter the same PIN again to continue.")
  }

  package func uploadPreview(_ date: PhoneUpload.Day) async throws(BridgePhoneError) -> JSONValue {
    throw .failed("There is no preview.")
  }

  package func check() async throws(BridgePhoneError) -> PhoneCheckResult {
    let report = JSONValue(try await perform(.check).json ?? "")
    return PhoneCheckResult(
      riskLevel: report?["riskLevel"]?.asInteger, failure: report?["failure"]?.asString)
  }

  package func exposures() async -> JSONValue {
    var rows: [JSONValue] = []
    for exposure in await phone.app.exposures {
      rows.append([
        "id": .string(exposure.id.uuidString), "date": .string(exposure.date.dayText),
        "riskLevel": 0, "seconds": .integer(Int(exposure.durationSeconds)), "bands": .array([]),
        "score": .integer(exposure.riskScore),
        "normalizedMinutes": exposure.judgement.map { .number($0.normalizedMinutes) } ?? .null,
        "hidden": false,
      ])
    }
    return ["exposures": .array(rows), "version": 1]
  }

  package func traffic() async -> JSONValue { ["messages": .array([]), "beacons": .array([])] }

  package func ownerData() async throws(BridgePhoneError) -> JSONValue {
    JSONValue(try await perform(.exportMyData).json ?? "") ?? .null
  }
}

extension Date {
  /// The day in UTC: `2020-10-15`.
  fileprivate var dayText: String {
    formatted(Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day())
  }
}

// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import PWA
import Secrets
import Synchronization
import TextEncodings

@testable import PhoneProcess

/// A phone that a test scripts, and that records the requests of pages.
final class ScriptedPhone: BridgePhone {
  struct Script {
    var state = PhoneState.example
    var services = PhoneServices(
      exposureNotifications: 1, isBluetoothOn: true, areNotificationsOn: true)
    var wantsStatistics = false
    var activities = PhoneActivities()
    var totals = PhoneCheckTotals(lastCheck: nil, today: 0, lastSevenDays: 0, total: 0)
    var uploadResult = PhoneUploadResult(result: 1, reason: nil)
    /// True for a phone that never answers a check or an upload.
    var hangs = false
    /// Delays the next result of `state()`.
    var stateDelay: (@Sendable () async -> Void)?
    /// Delays the next result of `services()`.
    var servicesDelay: (@Sendable () async -> Void)?
    /// A description of each request, in order.
    var requests: [String] = []
  }

  private let script = Mutex(Script())
  private let change: AsyncStream<Void>.Continuation
  private let changes: AsyncStream<Void>

  init(_ edit: (inout Script) -> Void = { _ in }) {
    (changes, change) = AsyncStream.makeStream(of: Void.self)
    script.withLock { edit(&$0) }
  }

  /// Changes the script and tells the bridge.
  func edit(_ edit: (inout Script) -> Void) {
    script.withLock { edit(&$0) }
    change.yield()
  }

  func makeChanges() -> AsyncStream<Void> { changes }

  var requests: [String] { script.withLock { $0.requests } }

  private func note(_ words: String) { script.withLock { $0.requests.append(words) } }

  private func answerOrHang() async {
    guard script.withLock({ $0.hangs }) else { return }
    try? await Task.sleep(for: .seconds(100_000))
  }

  /// Runs `delay` after the next call of `state()` has read the state, before it returns.
  func delayNextState(_ delay: @escaping @Sendable () async -> Void) {
    script.withLock { $0.stateDelay = delay }
  }

  func state() async -> PhoneState {
    let (state, delay) = script.withLock { script in
      defer { script.stateDelay = nil }
      return (script.state, script.stateDelay)
    }
    await delay?()
    return state
  }

  /// Runs `delay` after the next call of `services()` has read them, before it returns.
  func delayNextServices(_ delay: @escaping @Sendable () async -> Void) {
    script.withLock { $0.servicesDelay = delay }
  }

  func services() async -> PhoneServices {
    let (services, delay) = script.withLock { script in
      defer { script.servicesDelay = nil }
      return (script.services, script.servicesDelay)
    }
    await delay?()
    return services
  }

  func setExposureNotifications(_ isOn: Bool) async throws(BridgePhoneError) {
    note("notifications \(isOn)")
  }

  func choose(_ choice: PhoneChoice) async throws(BridgePhoneError) {
    script.withLock {
      if let language = choice.language { $0.state.language = language }
      if let hides = choice.hidesDetails { $0.state.hidesDetails = hides }
      if let notices = choice.notifications {
        $0.state.notifications = notices
        $0.services.areNotificationsOn = notices
      }
      if let statistics = choice.statistics { $0.wantsStatistics = statistics }
    }
  }

  func wantsStatistics() async -> Bool { script.withLock { $0.wantsStatistics } }

  func activities() async -> PhoneActivities { script.withLock { $0.activities } }

  func removeActivities(_ rows: PhoneActivityRows) async throws(BridgePhoneError) {
    script.withLock {
      $0.activities.notifications.removeAll { rows.notifications.contains($0.id) }
      $0.activities.riskChecks.removeAll { rows.riskChecks.contains($0.id) }
      $0.activities.exposures.removeAll { rows.exposures.contains($0.id) }
    }
  }

  func checkTotals() async -> PhoneCheckTotals { script.withLock { $0.totals } }

  func remove(_ what: PhoneRemoval) async throws(BridgePhoneError) {
    note("remove \(what)")
    if what == .exposures { script.withLock { $0.state.riskLevel = 0 } }
  }

  func upload(_ upload: PhoneUpload) async -> PhoneUploadResult {
    await answerOrHang()
    let pin = upload.pin.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    note("upload \(pin) \(upload.sharesAbroad) \(upload.diagnosis)")
    return script.withLock { $0.uploadResult }
  }

  func resolveUpload(
    continuing: Bool
  ) async throws(BridgePhoneError) -> PhoneUploadResult {
    guard continuing else { return PhoneUploadResult(result: 3, reason: nil) }
    throw .badRequest("There is no unfinished upload.")
  }

  func noteUploadShown() async { script.withLock { $0.state.lastUpload = nil } }

  func uploadPreview(_ diagnosis: Diagnosis) async throws(BridgePhoneError) -> JSONValue {
    ["keys": .array([]), "receiver": "localhost:1", "region": "PL"]
  }

  func check() async throws(BridgePhoneError) -> PhoneCheckResult {
    await answerOrHang()
    return PhoneCheckResult(riskLevel: 2, failure: nil)
  }

  func exposures() async -> JSONValue { ["exposures": .array([]), "version": 1] }

  func traffic() async throws(BridgePhoneError) -> JSONValue {
    ["messages": .array([]), "beacons": .array([])]
  }

  func ownerData() async throws(BridgePhoneError) -> JSONValue { ["status": [:]] }

  func onboard(_ step: PhoneOnboarding) async throws(BridgePhoneError) { note("onboard \(step)") }

  func travel(to region: String?) async throws(BridgePhoneError) -> JSONValue {
    guard region != "Poland" else { throw .badRequest("A region is a code.") }
    return ["traveled": .null, "region": "PL"]
  }

  func develop(_ action: DeveloperAction) async throws(BridgePhoneError) -> String {
    throw .notDeveloper
  }
}

extension PhoneState {
  /// A phone that has found nothing.
  static let example = PhoneState(
    onboarding: .finished, enabled: true, authorized: true, bluetooth: true, supported: true,
    riskLevel: 0, exposures: 0, lastCheck: nil, lastFailure: nil, nextCheck: nil,
    checking: false, paused: false, configurationRefused: nil, storage: "ready", damaged: [],
    pendingUpload: false, upload: nil, language: .polish, hidesDetails: false,
    notifications: true, developer: false, region: "PL", lastCheckKeys: 0, notices: [],
    version: "1.2.3", now: 1_600_000_000)
}

/// Statistics of the examples.
struct ScriptedStatistics: StatisticsSource {
  let file: @Sendable (String) -> JSONValue?

  func districts(refreshing: Bool) async -> JSONValue {
    guard case .object(var fields) = file("70.bridgeDataResponse.json") else { return .null }
    fields["result"] = 1
    return .object(fields)
  }

  func subscribedDistricts() async -> JSONValue {
    file("73-get-subscribed-districts.bridgeDataResponse.json") ?? .null
  }

  func subscribe(_ isSubscribed: Bool, to district: Int) async -> JSONValue? {
    district == 218 ? await subscribedDistricts() : nil
  }

  func dashboard() async -> JSONValue? { file("102-fetch-covid-stats.bridgeDataResponse.json") }

  func details() async -> JSONValue? { file("104-fetch-details-stats.onBridgeData.json") }
}

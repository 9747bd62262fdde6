// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import Secrets
import Synchronization
import World

// The state that a user interface shows, and the actions of its owner.
extension Phone {
  /// The current state.
  package func state() async -> PhoneState {
    let state = await app.currentState
    let preferences = preferences.values
    let checks = await app.analyzeChecks
    return PhoneState(
      onboarding: await onboarding(hasDeclined: preferences.hasDeclined),
      enabled: device.isEnabled, authorized: device.authorizationStatus == .authorized,
      bluetooth: isRunning && device.status == .active,
      supported: device.authorizationStatus != .restricted,
      // Without a complete check, nothing is known of the files.
      riskLevel: state.lastCheck == nil && state.riskLevel == .none ? nil : state.riskLevel.known,
      exposures: state.exposureCount, lastCheck: state.lastCheck.map { Int($0.unixSecond) },
      lastFailure: state.lastFailure?.rawValue,
      nextCheck: isRunning ? state.nextCheck.map { Int($0.unixSecond) } : nil,
      checking: state.isChecking,
      paused: state.isPaused,
      configurationRefused: await app.configurationRefusal.map { "\($0)" },
      storage: state.storage.rawValue, damaged: state.damage.map(\.content.rawValue),
      pendingUpload: state.hasPendingUpload, upload: state.upload?.step,
      lastUpload: lastUpload.withLock(\.self),
      language: preferences.language, hidesDetails: preferences.hidesDetails,
      notifications: preferences.notifications, developer: developerRadio != nil,
      region: settings.region.region, lastCheckKeys: checks.last?.keysCount ?? 0,
      notices: await notices.shown.map(PhoneState.NoticeRow.init), version: version,
      now: Int(clock.now.unixSecond), languageChosen: preferences.hasChosenLanguage ?? false,
      clockWrong: await app.isClockWrong)
  }

  /// The checks and notices of the last fourteen days.
  package func rows() async -> PhoneHistory {
    let totals = await app.checkTotals
    var checks: [PhoneHistory.Check] = []
    for (analysis, risk) in zip(await app.analyzeChecks, await app.riskChecks).reversed() {
      checks.append(
        PhoneHistory.Check(
          id: analysis.id.uuidString, time: Int(analysis.date.unixSecond), keys: analysis.keysCount,
          matchedKeys: analysis.matchedKeyCount, riskLevel: await app.riskLevel(of: risk).known))
    }
    return PhoneHistory(
      checks: checks, notices: await notices.history.reversed().map(PhoneState.NoticeRow.init),
      keysToday: totals.todayKeysCount, keysInSevenDays: totals.last7DaysKeysCount,
      keysTotal: totals.totalKeysCount)
  }

  /// The exposures of the last fourteen days, newest first. If the owner hides details, only the days and levels.
  package func details() async -> PhoneExposureDetails {
    let isHidden = preferences.values.hidesDetails
    var exposures: [PhoneExposureDetails.ExposureRow] = []
    for exposure in await app.exposures {
      let level = await app.riskLevel(of: exposure)
      exposures.append(PhoneExposureDetails.ExposureRow(exposure, level, isHidden: isHidden))
    }
    return PhoneExposureDetails(exposures: exposures, version: settings.apiVersion)
  }

  /// The requests that left the phone, and the number of beacons.
  ///
  /// - Throws: An error of the storage.
  package func sentMessages() async throws -> PhoneMessages {
    let received = try await device.storedDataCounts().sightings
    return await PhoneMessages.all(in: messages, received: received)
  }

  /// Makes a sequence of the changes of the state from now on. Changes of the preferences are not among them: their
  /// caller knows.
  package func makeChanges() -> AsyncStream<StateChange> { app.makeStateChanges() }

  private func onboarding(hasDeclined: Bool) async -> PhoneState.Onboarding {
    switch await app.onboarding {
    case .finished: .finished
    case .readyToFinish: .consented
    case .secondChance: .declined
    case .askToEnable, .restricted: hasDeclined ? .declined : .new
    }
  }
}

// MARK: Onboarding and preferences

extension Phone {
  /// Turns exposure notifications on with the owner's consent.
  package func consentToNotifications() async throws -> EnableOutcome {
    let outcome = await consent.granting(.enable) { await app.enable() }
    if outcome.isOn { try preferences.update { $0.hasDeclined = false } }
    return outcome
  }

  /// Records that the owner declined; the user interface offers a second chance.
  package func declineNotifications() throws {
    try preferences.update { $0.hasDeclined = true }
  }

  /// Records that the owner has read the screens of the onboarding.
  package func finishOnboarding() async throws {
    try await app.finishOnboarding()
  }

  /// Changes the preferences; `nil` leaves one unchanged.
  ///
  /// - Throws: An error of the storage; then the preferences in use are unchanged.
  package func setPreferences(
    language: Language? = nil, hidesDetails: Bool? = nil, notifications: Bool? = nil
  ) throws {
    try preferences.update {
      $0.language = language ?? $0.language
      if language != nil { $0.hasChosenLanguage = true }
      $0.hidesDetails = hidesDetails ?? $0.hidesDetails
      $0.notifications = notifications ?? $0.notifications
    }
  }
}

// MARK: Removing rows

extension Phone {
  /// Removes exposures by their IDs. Texts that are no ID of a row are ignored, here and below.
  package func removeExposures(ids: [String]) async throws {
    try await app.removeExposures(ids: Set(ids.compactMap(UUID.init)))
  }

  /// Removes checks by their IDs.
  package func removeChecks(ids: [String]) async throws {
    try await app.removeChecks(ids: Set(ids.compactMap(UUID.init)))
  }

  /// Removes notices from the history by their IDs; those that are shown stay shown.
  package func removeNotices(ids: [String]) async throws {
    try await notices.removeFromHistory(ids: Set(ids.compactMap(UUID.init)))
  }
}

// MARK: Uploads

extension Phone {
  /// Uploads the phone's keys. The call is the owner's consent, which they gave on the screen before.
  package func upload(
    pin: ZeroingBytes, sharesAbroad: Bool, diagnosis: Diagnosis = .notStated
  ) async -> UploadOutcome {
    noteUpload(nil)
    let outcome = await consent.granting(.upload(sharesAbroad: sharesAbroad)) {
      await app.upload(
        pin: pin, isInteroperabilityEnabled: sharesAbroad, diagnosis: diagnosis)
    }
    noteUpload(outcome)
    return outcome
  }

  /// Keeps the result of an upload for a user interface that was closed meanwhile; `nil` after it was shown.
  package func noteUpload(_ outcome: UploadOutcome?) {
    // The other upload reports its own result.
    guard outcome?.reason != .alreadyRunning else { return }
    lastUpload.withLock { $0 = outcome.map(PhoneState.UploadResult.init) }
  }

  /// The keys that an upload with this date would share, without the keys themselves.
  ///
  /// - Throws: `ENError`, or an error of the storage.
  package func uploadPreview(_ diagnosis: Diagnosis) async throws -> PhoneUploadPreview {
    let periods = try await device.releasableKeys().map { (start: $0.start, period: $0.period) }
    let keys = await app.uploadPreview(of: periods, diagnosis: diagnosis)
    return PhoneUploadPreview(
      keys: keys.map {
        PhoneUploadPreview.Key(
          day: $0.day.dayText, transmissionRisk: $0.transmissionRisk,
          rollingPeriod: $0.rollingPeriod)
      },
      receiver: settings.app.keyServer.hostAndPort, region: settings.region.region)
  }

  /// Continues the unfinished upload; returns `nil` if there is none.
  package func continueUpload() async -> UploadOutcome? {
    noteUpload(nil)
    let outcome = await consent.granting(.upload(sharesAbroad: false)) {
      await app.continueUpload()
    }
    noteUpload(outcome)
    return outcome
  }

  /// Removes the unfinished upload.
  package func forgetUpload() async throws {
    try await app.forgetUpload()
  }
}

extension PhoneState.UploadResult {
  fileprivate init(_ outcome: UploadOutcome) {
    self.init(
      result: outcome.result.rawValue, reason: outcome.reason?.name, until: outcome.lockEnd)
  }
}

extension UploadOutcome {
  /// The end of a lock in Unix seconds.
  package var lockEnd: Int? {
    if case .locked(let end)? = reason { Int(end.timeIntervalSince1970.rounded(.up)) } else { nil }
  }
}

extension UploadProgress {
  /// The step of an upload that has not ended.
  fileprivate var step: PhoneState.Upload? {
    switch self {
    case .waitingForConsent: .waitingForConsent
    case .requestingToken: .requestingToken
    case .sending: .sending
    case .finished: nil
    }
  }
}

// The rows of stored data as a user interface and `export-my-data` show them.
extension PhoneMessages {
  /// Joins the requests and counts of a record with the received beacons by day.
  static func all(in record: MessageRecord, received: [Date: Int]) async -> PhoneMessages {
    let sent = await record.sentBeacons
    let received = Dictionary(
      received.map { ($0.key.dayText, $0.value) }, uniquingKeysWith: { $0 + $1 })
    let days = Set(sent.keys).union(received.keys).sorted(by: >)
    return PhoneMessages(
      messages: await record.rows.map(Message.init),
      beacons: days.map { Beacons(date: $0, sent: sent[$0] ?? 0, received: received[$0] ?? 0) })
  }
}

extension PhoneMessages.Message {
  fileprivate init(_ row: MessageRecord.Exchange) {
    self.init(
      id: row.id.uuidString, time: Int(row.time.unixSecond), kind: row.kind.rawValue,
      receiver: row.receiver.rawValue, host: row.host, sent: row.sent, received: row.received,
      status: row.status, failure: row.failure?.rawValue)
  }
}

extension PhoneState.NoticeRow {
  init(_ row: PhoneNotices.Row) {
    self.init(
      id: row.id, kind: row.identifier, time: Int(row.time.unixSecond), title: row.title,
      body: row.body)
  }
}

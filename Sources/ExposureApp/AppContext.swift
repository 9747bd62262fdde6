// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import World

/// The shared part of the app: the objects that it was created with, its stores, what is running, and the facts that
/// follow from them. It stays on the app's actor.
final class AppContext {
  let framework: Framework
  let authorizationStatus: @Sendable () -> ENAuthorizationStatus
  let configuration: AppConfiguration
  let clock: any WallClock
  let randomness: any Randomness
  let network: any Network
  let changes = StateChangeFeed()
  let logger: Logger
  let folder: URL

  var store: AppStore<StoredState>
  var uploads: UploadStore
  var remote: RemoteConfiguration
  /// The result of the last check if it could not be stored.
  var unstoredFailure: CheckFailure?
  /// The kinds of shown notices that could not be recorded in the store.
  var noticesWithoutStore: Set<Notice.Identifier> = []
  /// The number of removals of all data, by which a check recognizes that one interrupted it.
  var removals = 0
  /// The running check and the running upload, which a removal of all data stops.
  var runningCheck: Task<CheckOutcome, Never>?
  var runningUpload: Task<UploadOutcome, Never>?
  /// The reason why the keys of the following days could not be shared yet; `nil` after a success.
  var followUpFailure: UploadFailure?
  /// The last announced step of an upload.
  var uploadProgress: UploadProgress?

  init(
    framework: Framework, authorizationStatus: @escaping @Sendable () -> ENAuthorizationStatus,
    configuration: AppConfiguration, folder: URL, sealingKey: SealingKey?, clock: any WallClock,
    randomness: any Randomness, network: any Network, logger: Logger
  ) {
    self.framework = framework
    self.authorizationStatus = authorizationStatus
    self.configuration = configuration
    self.clock = clock
    self.randomness = randomness
    self.network = network
    self.logger = logger
    self.folder = folder
    let storeFolder = folder.appendingPathComponent("Store")
    store = AppStore(
      initial: StoredState(),
      restored: .restored(isAuthorized: authorizationStatus() == .authorized, at: clock.now),
      folder: storeFolder, key: sealingKey, randomness: randomness)
    uploads = UploadStore(folder: storeFolder, key: sealingKey, randomness: randomness)
    remote = store.state.remoteConfiguration ?? .protegoDefault
    // It only fills the cache. The store sets a damaged record aside and keeps the fact, which is reported later.
    _ = try? uploads.load()
  }

  /// The stored state; it is changed through `store`.
  var state: StoredState { store.state }

  /// The time of the phone's clock.
  var now: Date { clock.now }

  /// The times by which old data is removed; the time of the clock while none is trusted yet.
  var retentionTimes: [Date] { state.retentionPeriod(at: now).times(orNow: now) }

  var uploadRequests: UploadRequests {
    UploadRequests(configuration: configuration, randomness: randomness)
  }

  var storeFolder: URL { folder.appendingPathComponent("Store") }

  var keyFileFolder: URL { folder.appendingPathComponent("KeyFiles", isDirectory: true) }

  private var assessment: RiskAssessment {
    RiskAssessment(thresholds: remote.riskLevelConfiguration)
  }

  var riskLevel: RiskLevel {
    let level = assessment.level(
      of: store.state.exposures, since: store.state.oldestExposure(at: clock.now))
    return level == .none && !areResultsKnown ? .unknown : level
  }

  /// False while lost or undone results are being computed again, if the store is not open, if the last check
  /// could not find encounters, or if no check has been complete for two days.
  var areResultsKnown: Bool {
    store.condition == .ready && lastFailure?.hidesEncounters != true && !isClockWrong
      && lastingFailure == nil && store.state.damage.recoveringSince == nil
      && !store.state.download.isUndoing
  }

  func riskLevel(of check: CheckRecord) -> RiskLevel {
    check.level.map { RiskLevel($0) } ?? assessment.level(of: check.riskScore)
  }

  func riskLevel(of exposure: Exposure) -> RiskLevel { assessment.level(of: exposure) }

  var exposures: [Exposure] {
    let oldest = store.state.oldestExposure(at: clock.now)
    return store.state.exposures.filter { $0.day.start >= oldest }.sorted { $0.day > $1.day }
  }

  var lastFailure: CheckFailure? {
    store.condition == .ready
      ? unstoredFailure ?? store.state.history.lastFailure : .storageUnavailable
  }

  /// The reason of the last failure if no check has been complete for two days.
  var lastingFailure: CheckFailure? {
    // Before the first consent no check can be complete.
    // A wrong clock has a notice of its own.
    guard store.state.wasAuthorized, !store.state.isTurnedOff, !isClockWrong,
      let since = store.state.history.failingSince,
      clock.now.timeIntervalSince(since) >= NoticeRule.failingSeconds
    else { return nil }
    return lastFailure
  }

  /// The risk level of each day with an encounter, as the user sees it.
  var riskDays: [Int: RiskLevel] {
    let assessment = assessment
    let days = exposures.map { ($0.day.number, assessment.level(of: $0)) }
    return Dictionary(days.filter { $0.1 > .none }, uniquingKeysWith: max)
  }

  var deviceConfiguration: DeviceConfiguration? {
    guard let accepted = store.state.deviceConfiguration,
      accepted.root == configuration.rootKey.fingerprint
    else { return nil }
    return accepted.document
  }

  var pause: DeviceConfiguration.Pause? {
    guard let document = deviceConfiguration, document.isPaused(at: clock.now) else { return nil }
    return document.pause
  }

  var isClockWrong: Bool { store.state.isClockWrong }

  var storageDamage: [DataDamage] { store.state.damage.open }

  var hasPendingUpload: Bool {
    uploads.pendingEnd.map { end in
      let seconds = end.timeIntervalSince(clock.now)
      return 0 < seconds && seconds < 2 * RemovalRule.pendingUploadSeconds
    } ?? false
  }

  /// True if the user was notified of the end of the unfinished upload.
  var isUploadEndNotified: Bool { store.state.notices.notifiedUploadEnd == uploads.pendingEnd }

  var serviceStatus: ServiceStatus {
    let status = framework.status
    let notifications: ServiceStatus.ExposureNotifications =
      switch (authorizationStatus(), status) {
      case (.authorized, .active): .on
      case (.authorized, .bluetoothOff), (.authorized, .disabled): .off
      case (.authorized, _), (.restricted, _): .restricted
      default: .off
      }
    return ServiceStatus(
      exposureNotifications: notifications, isBluetoothOn: status != .bluetoothOff)
  }

  var currentState: AppState {
    AppState(
      riskLevel: riskLevel, exposureCount: exposures.count,
      lastCheck: store.state.history.lastCheck, lastFailure: lastFailure,
      nextCheck: store.state.schedule.next, service: serviceStatus, storage: store.condition,
      damage: storageDamage, notices: store.state.notices.visible.union(noticesWithoutStore),
      reportedTest: store.state.reportedTest, hasPendingUpload: hasPendingUpload,
      isChecking: runningCheck != nil, upload: runningUpload == nil ? nil : uploadProgress,
      isPaused: pause != nil, configurationRefusal: store.state.configurationRefusal,
      followUp: state.followUp, followUpFailure: followUpFailure)
  }

  /// Tells all readers of `makeStateChanges()`.
  func announce(_ reason: StateChange.Reason) {
    if case .uploadProgress(let progress) = reason { uploadProgress = progress }
    changes.send(StateChange(state: currentState, reason: reason))
  }

  /// The rules for exposure windows: those of the remote configuration, or those that the app is built with;
  /// `nil` for an app of API version 1. A map that may not change yet stays as it is.
  var windowRisk: WindowRiskAssessment? {
    guard let builtIn = configuration.windowRisk else { return nil }
    // Rules of the server that are not valid are ignored, as `RemoteConfiguration.Received` does.
    let rules = remote.windowRiskConfiguration.flatMap { try? WindowRiskAssessment($0) } ?? builtIn
    let map = store.state.infectiousness.map(for: rules.infectiousness, at: clock.now)
    return map == rules.infectiousness ? rules : rules.with(map)
  }

  /// Records that the user has allowed exposure notifications, so that a loss of the permission is noticed,
  /// and the time since when the phone can receive.
  func noteAuthorization() {
    let isReceiving = store.state.isTurnedOff || store.state.download.receiving != nil
    guard authorizationStatus() == .authorized, !(store.state.wasAuthorized && isReceiving) else {
      return
    }
    let now = clock.now
    store.updateIfPossible { state in
      if !state.wasAuthorized { state.history.forgetFailures() }
      state.wasAuthorized = true
      if !isReceiving { state.download.beginReceiving(at: now) }
    }
  }
}

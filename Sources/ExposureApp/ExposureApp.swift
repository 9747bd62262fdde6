// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import World

/// An exposure notification app without a user interface.
///
/// The app calls no static function of the system. The `ENManager`, clock, random source, network,
/// scheduler, notices and device attestation are parameters, so the same code runs on a phone and in a
/// simulation. Each flow is an extension in the file of its topic.
public actor ExposureApp {
  let framework: Framework
  let authorizationStatus: @Sendable () -> ENAuthorizationStatus
  let configuration: AppConfiguration
  let clock: any WallClock
  let randomness: any Randomness
  let network: any Network
  let scheduler: any BackgroundScheduler
  let notices: any NoticeSink
  let deviceCheck: any DeviceAttestation
  let trust: any KeyFileTrust
  let inspect: @Sendable (URL) throws -> KeyFileFacts
  let damage: @Sendable () async -> [DataDamage]
  let changes = StateChangeFeed()
  let logger: Logger
  let keyFileFolder: URL
  let storeFolder: URL

  var store: AppStore<StoredState>
  var uploads: UploadStore
  var remote: RemoteConfiguration
  /// The server of the running check.
  var checkServer: RetryingNetwork?
  /// The result of the last check if it could not be stored.
  var unstoredFailure: CheckFailure?
  /// The kinds of shown notices that could not be recorded in the store.
  var noticesWithoutStore: Set<Notice.Identifier> = []
  var activation: Task<Void, any Error>?
  /// True while the app finishes an upload by itself.
  var isContinuingUpload = false
  /// True while all data is removed: a check or an upload would store its results after the removal.
  var isRemovingEverything = false
  /// The number of removals of all data, by which a check recognizes that one interrupted it.
  var removals = 0
  /// The running check and the running upload, which a removal of all data stops.
  var runningCheck: Task<CheckOutcome, Never>?
  var runningUpload: Task<UploadOutcome, Never>?
  /// The callers that await the result of the running check.
  var checkWaiters: [UUID: CheckedContinuation<CheckOutcome, Never>] = [:]
  var continuation = UploadContinuation()
  /// The time at which the schedule has compared a wrong clock; `nil` while it is right.
  var lastClockComparison: ClockReading?
  /// The last announced step of an upload.
  var uploadProgress: UploadProgress?

  /// Creates the app and opens its store.
  ///
  /// - Parameters:
  ///   - folder: The folder for the app's store and the downloaded key files.
  ///   - sealingKey: The key that encrypts the store, or `nil` if it is lost.
  ///   - trust: The system's trust in key files; the `Device` on Linux.
  ///   - inspect: Returns what a key file states about itself, and throws if it is not a key file. The app
  ///     does not parse key files itself.
  ///   - damage: Returns the damage that was found in the framework's storage, at least since the start.
  ///     Reports that the app knows are ignored.
  public init(
    manager: sending ENManager,
    authorizationStatus: @escaping @Sendable () -> ENAuthorizationStatus,
    configuration: AppConfiguration, folder: URL, sealingKey: SealingKey?,
    clock: any WallClock, randomness: any Randomness, network: any Network,
    scheduler: any BackgroundScheduler, notices: any NoticeSink,
    deviceCheck: any DeviceAttestation, trust: any KeyFileTrust,
    inspect: @escaping @Sendable (URL) throws -> KeyFileFacts,
    damage: @escaping @Sendable () async -> [DataDamage] = { [] }, logger: Logger
  ) {
    framework = Framework(manager, clock: clock)
    self.authorizationStatus = authorizationStatus
    self.configuration = configuration
    self.clock = clock
    self.randomness = randomness
    self.network = network
    self.scheduler = scheduler
    self.notices = notices
    self.deviceCheck = deviceCheck
    self.trust = trust
    self.inspect = inspect
    self.damage = damage
    self.logger = logger
    keyFileFolder = folder.appendingPathComponent("KeyFiles")
    let store = AppStore(
      initial: StoredState(),
      restored: .restored(isAuthorized: authorizationStatus() == .authorized, at: clock.now),
      folder: folder.appendingPathComponent("Store"), key: sealingKey,
      randomness: randomness)
    self.store = store
    uploads = UploadStore(
      folder: folder.appendingPathComponent("Store"), key: sealingKey, randomness: randomness)
    // It only fills the cache. The store sets a damaged record aside and keeps the fact, which is reported later.
    _ = try? uploads.load()
    storeFolder = folder.appendingPathComponent("Store")
    remote = store.state.remoteConfiguration ?? .protegoDefault
    // Before the framework removes old data.
    let error = store.state.clockError
    trust.setClock(isWrong: error != nil, secondsAhead: error?.secondsAhead)
  }

  /// Prepares the app; call it once at every launch. It never prompts the user.
  ///
  /// If the user has allowed exposure notifications since the last launch, they are turned on.
  public func start() async {
    scheduleNextCheck()
    noteOwnDamage()
    noteUnrecordedSharing()
    do {
      try await activate()
      noteAuthorization()
      let isWanted = authorizationStatus() == .authorized && !store.state.isTurnedOff
      if isWanted, !framework.isEnabled {
        try await framework.setEnabled(true)
      }
    } catch ENError.bluetoothOff {
      // They are enabled and start as soon as Bluetooth is on; a check notifies the user.
    } catch {
      logger.notice("starting exposure notifications failed", metadata: ["error": "\(error)"])
    }
    do throws(StorageFailure) {
      try removeOldData()
    } catch {
      logger.notice("removing old data failed", metadata: ["error": "\(error)"])
    }
    await noteSystemDamage()
    await updateStandingNotices()
    announce(.started)
  }

  /// The risk level of the last fourteen days, read from the store without a detection. Without a known
  /// exposure it is `unknown` while lost or undone results are being computed again, if the store is not
  /// open, if the last check could not find encounters, or if no check has been complete for two days.
  public var riskLevel: RiskLevel {
    let level = RiskAssessment(thresholds: remote.riskLevelConfiguration)
      .level(of: store.state.exposures, since: store.state.oldestExposure(at: clock.now))
    return level == .none && !areResultsKnown ? .unknown : level
  }

  /// False while lost or undone results are being computed again, if the store is not open, if the last check
  /// could not find encounters, or if no check has been complete for two days.
  var areResultsKnown: Bool {
    store.condition == .ready && lastFailure?.hidesEncounters != true && !isClockWrong
      && lastingFailure == nil
      && store.state.damage.recoveringSince == nil
      && !store.state.download.isUndoing
  }

  /// The level of one check; scores use the current thresholds.
  public func riskLevel(of check: CheckRecord) -> RiskLevel {
    check.level.map { RiskLevel($0) }
      ?? RiskAssessment(thresholds: remote.riskLevelConfiguration).level(of: check.riskScore)
  }

  /// The level of one exposure; scores use the current thresholds.
  public func riskLevel(of exposure: Exposure) -> RiskLevel {
    RiskAssessment(thresholds: remote.riskLevelConfiguration).level(of: exposure)
  }

  /// The exposures of the last fourteen days, newest first.
  public var exposures: [Exposure] {
    let oldest = store.state.oldestExposure(at: clock.now)
    return store.state.exposures.filter { $0.day.start >= oldest }.sorted { $0.day > $1.day }
  }

  /// The current table of score ranges and levels. An app with a policy for windows uses it only for
  /// exposures from before the policy.
  public var riskRules: [RiskRule] { RiskRule.table(for: remote.riskLevelConfiguration) }

  /// The numbers of checked keys.
  public var checkTotals: CheckTotals { store.state.history.totals(at: clock.now) }

  /// The checks that analysed files, oldest first.
  public var checks: [CheckRecord] { store.state.history.checks }

  /// The reason why the last check failed; `nil` if it succeeded.
  public var lastFailure: CheckFailure? {
    store.condition == .ready
      ? unstoredFailure ?? store.state.history.lastFailure : .storageUnavailable
  }

  /// The end timestamp, in Unix seconds, up to which key files are analysed; `nil` before the first check.
  public var cursor: Int64? { store.state.download.end }

  /// The condition of the store; if it is not `ready`, the user can start over.
  public var storage: StorageCondition { store.condition }

  /// Creates an empty store with a new key after the old store was lost or damaged.
  ///
  /// The unreadable files are kept under another name until `removeEverything()`.
  public func startOver(with key: SealingKey) throws(StorageFailure) {
    try store.startOver(with: key)
    uploads = UploadStore(folder: storeFolder, key: key, randomness: randomness)
    noteOwnDamage()
    remote = store.state.remoteConfiguration ?? .protegoDefault
  }

  /// Opens the store again after a read error of the disk.
  public func reopenStorage() {
    guard store.condition == .unreadable else { return }
    store.open()
    noteOwnDamage()
    remote = store.state.remoteConfiguration ?? .protegoDefault
  }

  /// Activates the framework once; concurrent callers wait for the same activation.
  func activate() async throws {
    let current = activation ?? Task { try await framework.activate() }
    activation = current
    do {
      try await current.value
    } catch {
      activation = nil
      throw error
    }
  }
}

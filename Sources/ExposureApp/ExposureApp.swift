import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import World

/// The app's mind: everything an exposure notification app does, without a face.
///
/// It calls no static of the system. It is given its `ENManager`, the clock, chance, the network,
/// the scheduler, the notices and the device's word, so the same code runs on a phone and in a
/// town. See Documentation/App.md. Its flows lie in the rooms: Onboarding, Download, Risk, Notices,
/// Upload, Background, Removal.
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
  let countKeys: @Sendable (URL) throws -> Int
  let logger: Logger
  let keyFileFolder: URL

  var store: AppStore
  var remote: RemoteConfiguration
  var activation: Task<Void, any Error>?
  var isChecking = false
  var isUploading = false

  /// An app that remembers in `folder`, sealed by `sealingKey`; nil where that key is gone.
  ///
  /// `countKeys` tells how many keys a key file holds, for the person to read; the app itself does
  /// not look into key files.
  public init(
    manager: sending ENManager,
    authorizationStatus: @escaping @Sendable () -> ENAuthorizationStatus,
    configuration: AppConfiguration, folder: URL, sealingKey: SealingKey?,
    clock: any WallClock, randomness: any Randomness, network: any Network,
    scheduler: any BackgroundScheduler, notices: any NoticeSink,
    deviceCheck: any DeviceAttestation,
    countKeys: @escaping @Sendable (URL) throws -> Int, logger: Logger
  ) {
    framework = Framework(manager)
    self.authorizationStatus = authorizationStatus
    self.configuration = configuration
    self.clock = clock
    self.randomness = randomness
    self.network = network
    self.scheduler = scheduler
    self.notices = notices
    self.deviceCheck = deviceCheck
    self.countKeys = countKeys
    self.logger = logger
    keyFileFolder = folder.appendingPathComponent("KeyFiles")
    let store = AppStore(
      folder: folder.appendingPathComponent("Store"), key: sealingKey, randomness: randomness)
    self.store = store
    remote = store.state.verifiedConfiguration(by: configuration.remoteConfigurationKeys)
  }

  /// Makes the app ready; call it once at every launch. It asks the person nothing.
  ///
  /// Where the person has allowed exposure notifications in Settings meanwhile, they are turned on.
  public func start() async {
    scheduleNextCheck()
    do {
      try await activate()
      if authorizationStatus() == .authorized, !framework.isEnabled {
        try await framework.setEnabled(true)
      }
    } catch ENError.bluetoothOff {
      // They are on (Documentation/App.md 2.3); a check tells that Bluetooth is missing.
    } catch {
      logger.notice("exposure notifications did not start", metadata: ["why": "\(error)"])
    }
    try? removeOldData()
  }

  /// The level of the last fourteen days, from the store: asking costs nothing (bridge 61).
  public var riskLevel: RiskLevel {
    RiskAssessment(thresholds: remote.riskLevelConfiguration)
      .level(of: store.state.exposures, at: clock.now)
  }

  /// The level of what one run found, by today's thresholds where scores decided.
  public func riskLevel(of check: RiskCheck) -> RiskLevel {
    check.level.map { RiskLevel($0) }
      ?? RiskAssessment(thresholds: remote.riskLevelConfiguration).level(of: check.riskScore)
  }

  /// The encounters of the last fourteen days, or the judged days, newest first.
  public var exposures: [Exposure] {
    let oldest = RemovalRule.oldestExposure(at: clock.now)
    return store.state.exposures.filter { $0.date >= oldest }.sorted { $0.date > $1.date }
  }

  /// The table by which scores become levels now, with a sentence for each row. Where windows are
  /// judged by a policy it decides only about encounters from before.
  public var riskRules: [RiskRule] { RiskRule.table(for: remote.riskLevelConfiguration) }

  /// How much has been checked (bridge 103).
  public var checkSums: CheckSums { store.state.history.sums(at: clock.now) }

  /// The runs that analysed files, oldest first (bridge 90).
  public var analyzeChecks: [AnalyzeCheck] { store.state.history.analyzeChecks }

  /// The risk that each of those runs found, oldest first (bridge 90).
  public var riskChecks: [RiskCheck] { store.state.history.riskChecks }

  /// Why the last check did not end well; nil where it did.
  public var lastFailure: CheckFailure? {
    store.condition == .ready ? store.state.history.lastFailure : .storageUnavailable
  }

  /// Up to which end timestamp, in Unix seconds, the key files have been analysed; nil before the
  /// first check.
  public var cursor: Int64? { store.state.download.end }

  /// Whether the app has its memory; where it has not, the person is told and may start over.
  public var storage: StorageCondition { store.condition }

  /// Begins an empty memory with a new key after the old one was lost or damaged. What does not
  /// open is set aside until `removeEverything()`.
  public func startOver(with key: SealingKey) throws(StorageFailure) {
    try store.startOver(with: key)
    remote = store.state.verifiedConfiguration(by: configuration.remoteConfigurationKeys)
  }

  /// Tries to read the memory again after the disk did not give it.
  public func reopenStorage() {
    guard store.condition == .unreadable else { return }
    store.open()
    remote = store.state.verifiedConfiguration(by: configuration.remoteConfigurationKeys)
  }

  /// Activates the framework once: it cannot be activated a second time, and nothing may be asked
  /// of it before, so whoever comes meanwhile waits for the same activation.
  func activate() async throws {
    let begun = activation ?? Task { try await framework.activate() }
    activation = begun
    do {
      try await begun.value
    } catch {
      activation = nil
      throw error
    }
  }
}

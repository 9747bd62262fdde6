// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import Secrets
import World

/// An exposure notification app without a user interface.
///
/// The app calls no static function of the system. The `ENManager`, clock, random source, network,
/// scheduler, notices and device attestation are parameters, so the same code runs on a phone and in a
/// simulation. It is the one door to the types of the topics, which stay on this actor and share an `AppContext`.
public actor ExposureApp {
  let context: AppContext
  let notices: NoticeBoard
  let housekeeping: Housekeeping
  let configuration: ConfigurationRefresh
  let uploading: Upload
  let checking: Check
  let followUps: FollowUps
  let scheduler: any BackgroundScheduler
  private let changes: StateChangeFeed
  /// The identifier of the app's background task.
  public nonisolated let backgroundIdentifier: String

  /// True while the app finishes an upload by itself.
  var isContinuingUpload = false
  /// True while all data is removed: a check or an upload would store its results after the removal.
  var isRemovingEverything = false
  /// The callers that await the result of the running check.
  var checkWaiters: [UUID: CheckedContinuation<CheckOutcome, Never>] = [:]
  var continuation = UploadContinuation()
  /// The time at which the schedule has compared a wrong clock; `nil` while it is right.
  var lastClockComparison: ClockReading?

  /// Creates the app and opens its store.
  ///
  /// - Parameters:
  ///   - manager: The framework's manager.
  ///   - authorizationStatus: Returns the status that the framework has now.
  ///   - configuration: The servers and the rules of the app.
  ///   - folder: The folder for the app's store and the downloaded key files.
  ///   - sealingKey: The key that encrypts the store, or `nil` if it is lost.
  ///   - clock: The clock of the phone.
  ///   - randomness: The source of pauses, decoys and padding.
  ///   - network: Sends the requests.
  ///   - scheduler: Starts the checks in the background.
  ///   - notices: Shows the notices.
  ///   - deviceCheck: Attests the device to the key server.
  ///   - trust: The system's trust in key files; the `Device` on Linux.
  ///   - inspect: Returns what a key file states about itself, and throws if it is not a key file or has no
  ///     signature. The app does not parse key files itself.
  ///   - damage: Returns the damage that was found in the framework's storage, at least since the start.
  ///     Reports that the app knows are ignored.
  ///   - logger: Logs failures, without personal data.
  public init(
    manager: sending ENManager,
    authorizationStatus: @escaping @Sendable () -> ENAuthorizationStatus,
    configuration: AppConfiguration, folder: URL, sealingKey: SealingKey?, clock: any WallClock,
    randomness: any Randomness, network: any Network, scheduler: any BackgroundScheduler,
    notices: any NoticeSink, deviceCheck: any DeviceAttestation, trust: any KeyFileTrust,
    inspect: @escaping @Sendable (URL) throws -> KeyFileFacts,
    damage: @escaping @Sendable () async -> [DataDamage] = { [] }, logger: Logger
  ) {
    context = AppContext(
      framework: Framework(manager, clock: clock), authorizationStatus: authorizationStatus,
      configuration: configuration, folder: folder, sealingKey: sealingKey, clock: clock,
      randomness: randomness, network: network, logger: logger)
    self.scheduler = scheduler
    changes = context.changes
    backgroundIdentifier = configuration.appPackageName + BackgroundRequest.suffix
    self.notices = NoticeBoard(context, sink: notices)
    housekeeping = Housekeeping(context, damage: damage)
    self.configuration = ConfigurationRefresh(context, trust: trust)
    uploading = Upload(
      context, configuration: self.configuration, housekeeping: housekeeping,
      deviceCheck: deviceCheck)
    followUps = FollowUps(context, upload: uploading, notices: self.notices)
    checking = Check(
      context, configuration: self.configuration, notices: self.notices, housekeeping: housekeeping,
      upload: uploading, trust: trust, inspect: inspect)
  }

  /// Prepares the app; call it once at every launch. It never prompts the user.
  ///
  /// If the user has allowed exposure notifications since the last launch, they are turned on.
  public func start() async {
    scheduleNextCheck()
    housekeeping.noteOwn()
    housekeeping.noteUnrecordedSharing()
    do {
      try await context.framework.activate()
      context.noteAuthorization()
      let isWanted = context.authorizationStatus() == .authorized && !context.state.isTurnedOff
      if isWanted, !context.framework.isEnabled { try await context.framework.setEnabled(true) }
    } catch ENError.bluetoothOff {
      // They are enabled and start as soon as Bluetooth is on; a check notifies the user.
    } catch {
      context.logger.notice(
        "starting exposure notifications failed", metadata: ["error": "\(error)"])
    }
    do throws(StorageFailure) { try housekeeping.removeOldData() } catch {
      context.logger.notice("removing old data failed", metadata: ["error": "\(error)"])
    }
    await housekeeping.noteSystem()
    await notices.updateStanding()
    context.announce(.started)
  }

  /// The risk level of the last fourteen days, read from the store without a detection. Without a known
  /// exposure it is `unknown` while lost or undone results are being computed again, if the store is not
  /// open, if the last check could not find encounters, or if no check has been complete for two days.
  public var riskLevel: RiskLevel { context.riskLevel }

  /// The level of one check; scores use the current thresholds.
  public func riskLevel(of check: CheckRecord) -> RiskLevel { context.riskLevel(of: check) }

  /// The level of one exposure; scores use the current thresholds.
  public func riskLevel(of exposure: Exposure) -> RiskLevel { context.riskLevel(of: exposure) }

  /// The exposures of the last fourteen days, newest first.
  public var exposures: [Exposure] { context.exposures }

  /// The current table of score ranges and levels. An app with a policy for windows uses it only for
  /// exposures from before the policy.
  public var riskRules: [RiskRule] { RiskRule.table(for: context.remote.riskLevelConfiguration) }

  /// The number of keys analysed today and on the days before, `days` in all, at most
  /// `RemovalRule.dayChecksDays`. The days are those of UTC.
  public func keysCount(ofDays days: Int) -> Int {
    context.state.history.keysCount(ofDays: days, at: context.now)
  }

  /// The number of keys analysed since the installation.
  public var totalKeysCount: Int { context.state.history.totalKeysCount }

  /// The checks that analysed files, oldest first.
  public var checks: [CheckRecord] { context.state.history.checks }

  /// The end timestamp, in Unix seconds, up to which key files are analysed; `nil` before the first check.
  public var cursor: Int64? { context.state.download.end }

  /// The condition of the store; if it is not `ready`, the user can start over.
  public var storage: StorageCondition { context.store.condition }

  /// Creates an empty store with a new key after the old store was lost or damaged.
  ///
  /// The unreadable files are kept under another name until `removeEverything()`.
  public func startOver(with key: SealingKey) throws(StorageFailure) {
    try context.store.startOver(with: key)
    context.uploads = UploadStore(
      folder: context.storeFolder, key: key, randomness: context.randomness)
    noteStoredState()
  }

  /// Opens the store again after a read error of the disk.
  public func reopenStorage() {
    guard context.store.condition == .unreadable else { return }
    context.store.open()
    noteStoredState()
  }

  /// Follows the state of a store that was opened again.
  private func noteStoredState() {
    housekeeping.noteOwn()
    context.remote = context.state.remoteConfiguration ?? .protegoDefault
    configuration.clock.tellSystem()
  }

  /// The device configuration in use; `nil` before the first one.
  public var deviceConfiguration: DeviceConfiguration? { context.deviceConfiguration }

  /// The health authority's instruction to pause, if it is in force.
  public var pause: DeviceConfiguration.Pause? { context.pause }

  /// True if the phone's clock was wrong when it was compared last.
  public var isClockWrong: Bool { context.isClockWrong }

  /// The current state.
  public var currentState: AppState { context.currentState }

  var store: AppStore<StoredState> { context.store }

  /// Makes a sequence of the state changes from now on, with their reasons.
  ///
  /// ```swift
  /// for await change in app.makeStateChanges() { show(change.state, because: change.reason) }
  /// ```
  public nonisolated func makeStateChanges() -> AsyncStream<StateChange> { changes.subscribe() }
}

extension ExposureApp {
  /// Runs one check: download, detection, risk assessment and notice.
  ///
  /// The exposures and the cursor are stored together after the detection. If the check fails earlier,
  /// the cursor and the downloaded files stay for the next check. During a check, another call awaits its
  /// result.
  public func check() async -> CheckOutcome {
    guard context.runningCheck == nil else { return await resultOfRunningCheck() }
    guard !isRemovingEverything else { return .failed(.dataRemoved) }
    let work = Task {
      await continueUploads()
      return await checking.run()
    }
    context.runningCheck = work
    context.announce(.checkStarted)
    let outcome = await work.valueOrCancelled
    context.runningCheck = nil
    for waiter in checkWaiters.values { waiter.resume(returning: outcome) }
    checkWaiters = [:]
    context.announce(.checkFinished(outcome))
    return outcome
  }

  /// The result of the running check, or a failure if the caller is cancelled.
  private func resultOfRunningCheck() async -> CheckOutcome {
    let id = UUID()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        if Task.isCancelled {
          waiter.resume(returning: .failed(.timeIsUp))
        } else {
          checkWaiters[id] = waiter
        }
      }
    } onCancel: {
      Task { await self.leaveCheck(id) }
    }
  }

  private func leaveCheck(_ id: UUID) {
    checkWaiters.removeValue(forKey: id)?.resume(returning: .failed(.timeIsUp))
  }

  /// Uploads the user's keys with a PIN.
  ///
  /// After a failure other than a refusal, a second call with the same PIN continues the upload. The PIN of a
  /// complete upload succeeds again without a request on the same day; later it is refused as used.
  ///
  /// - Parameters:
  ///   - pin: The PIN as typed.
  ///   - isInteroperabilityEnabled: True if the user agreed to share the keys with other countries.
  ///   - diagnosis: The date of the test or of the first symptoms, which chooses the keys' transmission risks.
  public func upload(
    pin: String, isInteroperabilityEnabled: Bool, diagnosis: Diagnosis = .notStated
  ) async -> UploadOutcome {
    await upload(
      pin: ZeroingBytes(copying: pin.utf8), isInteroperabilityEnabled: isInteroperabilityEnabled,
      diagnosis: diagnosis)
  }

  /// The same with a PIN whose memory is overwritten after use.
  public func upload(
    pin: ZeroingBytes, isInteroperabilityEnabled: Bool, diagnosis: Diagnosis = .notStated
  ) async -> UploadOutcome {
    // The user's upload waits for an attempt of the app, which may have finished the same upload.
    while isContinuingUpload, let attempt = context.runningUpload {
      _ = await attempt.value
      await Task.yield()
    }
    guard context.runningUpload == nil, !isRemovingEverything else {
      return UploadOutcome(.alreadyRunning)
    }
    context.uploadProgress = nil
    // The record has only the last complete upload.
    housekeeping.noteUnrecordedSharing()
    let work = Task {
      await uploading.run(
        pin, isInteroperabilityEnabled: isInteroperabilityEnabled, diagnosis: diagnosis)
    }
    context.runningUpload = work
    await notices.remove(.upload)
    let outcome = await work.valueOrCancelled
    context.runningUpload = nil
    context.announce(.uploadFinished(outcome))
    return outcome
  }

  /// Removes the stored upload, which can then not be continued, and stops an attempt of the app to finish it.
  ///
  /// - Returns: A failure if nothing was removed, because an upload of the user is running; `nil` otherwise.
  public func forgetUpload() async throws(StorageFailure) -> UploadOutcome? {
    await stopContinuingUploads()
    guard context.runningUpload == nil else { return UploadOutcome(.alreadyRunning) }
    var record = try uploading.record()
    guard record.pending != nil else { return nil }
    record.pending = nil
    try context.uploads.save(record)
    housekeeping.forgetStatedDay()
    context.announce(.removal)
    return nil
  }

  /// Stops the upload that the app runs by itself.
  private func stopContinuingUploads() async {
    while isContinuingUpload, let attempt = context.runningUpload {
      attempt.cancel()
      _ = await attempt.value
      await Task.yield()
    }
  }

  /// Agrees to share the keys of the following days, each after it has ended; the system asks the user.
  ///
  /// - Returns: The reason if nothing changes; `nil` on success.
  public func shareFollowingDays() async -> UploadFailure? {
    guard context.state.followUp?.status == .offered else { return .nothingToShare }
    return await followUps.begin()
  }

  /// Ends the sharing of the keys of the following days, or declines it.
  public func endFollowingDays() async throws(StorageFailure) {
    guard context.state.followUp?.isOpen == true else { return }
    await stopContinuingUploads()
    try followUps.end(.ended)
  }

  /// Finishes an interrupted upload, and shares the keys of the following days that have ended.
  func continueUploads() async {
    await finishUploadIfDue()
    guard context.runningUpload == nil, !isRemovingEverything, followUps.isDue else { return }
    let work = Task {
      await followUps.run()
      return UploadOutcome.success
    }
    context.uploadProgress = nil
    (context.runningUpload, isContinuingUpload) = (work, true)
    _ = await work.valueOrCancelled
    (context.runningUpload, isContinuingUpload) = (nil, false)
    context.announce(.consentChanged)
  }

  /// The keys that an upload would share with this date, oldest first, and those of days on which the clock was wrong,
  /// which it would not.
  ///
  /// An unfinished upload that the PIN continues has chosen its keys already, and keys that were released today are
  /// shared again. Otherwise `periods` counts.
  ///
  /// - Parameters:
  ///   - periods: The first interval and the number of intervals of each key that the framework would release.
  ///   - diagnosis: The date of the test or of the first symptoms.
  ///   - pin: The PIN as typed; `nil` or empty if it is not known.
  public func uploadPreview(
    of periods: [(start: UInt32, period: UInt32)], diagnosis: Diagnosis, pin: ZeroingBytes? = nil
  ) -> [KeyPreview] { uploading.preview(of: periods, diagnosis: diagnosis, pin: pin) }

  /// Removes the notices that the user has dismissed. One whose cause lasts is shown again by the next check.
  public func dismissNotices() async throws(StorageFailure) { try await notices.dismiss() }

  /// Records that the user has read about damage, and removes its notice. Lost results stay reported until
  /// they have been computed again.
  public func acknowledgeDamage() async throws(StorageFailure) {
    try context.store.update { $0.damage.acknowledge() }
    await notices.remove(.storageDamaged)
    await notices.updateStanding()
  }

  /// Reports damage that the program has found since the start or the last check.
  public func reportDamage() async {
    guard await !housekeeping.damage().isEmpty else { return }
    await housekeeping.noteSystem()
    await notices.updateStanding()
  }
}

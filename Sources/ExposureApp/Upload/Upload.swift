// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import Secrets
import World

extension ExposureApp {
  /// Uploads the user's keys with a PIN.
  ///
  /// After a failure other than a refusal, a second call with the same PIN continues the upload. The PIN of a
  /// complete upload succeeds again without a request on the same day; later it is refused as used.
  ///
  /// - Parameters:
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
    while isContinuingUpload, let attempt = runningUpload {
      _ = await attempt.value
      await Task.yield()
    }
    guard runningUpload == nil, !isRemovingEverything else { return UploadOutcome(.alreadyRunning) }
    uploadProgress = nil
    let work = Task {
      await uploadOnce(
        pin, isInteroperabilityEnabled: isInteroperabilityEnabled, diagnosis: diagnosis)
    }
    runningUpload = work
    await removeNotice(.upload)
    let outcome = await work.valueOrCancelled
    runningUpload = nil
    announce(.uploadProgress(.finished(outcome)))
    return outcome
  }

  /// Removes the stored upload, which can then not be continued.
  public func forgetUpload() throws(StorageFailure) {
    guard runningUpload == nil else { return }
    var record = try uploadRecord()
    guard record.pending != nil else { return }
    record.pending = nil
    try uploads.save(record)
    forgetStatedDay()
    announce(.removal)
  }

  /// Forgets the day that the user has stated for an upload that does not exist any more.
  func forgetStatedDay() {
    // If it cannot be stored, the next removal of old data repeats it.
    if store.state.statedDay != nil { store.updateIfPossible { $0.statedDay = nil } }
  }

  /// True if an unfinished upload can be continued.
  public var hasPendingUpload: Bool {
    uploads.pendingEnd.map { end in
      let seconds = end.timeIntervalSince(clock.now)
      return 0 < seconds && seconds < 2 * RemovalRule.pendingUploadSeconds
    } ?? false
  }

  private func uploadOnce(
    _ typed: ZeroingBytes, isInteroperabilityEnabled: Bool, diagnosis: Diagnosis
  ) async -> UploadOutcome {
    // The pause may have ended since the last check.
    if pause != nil { await compareClock() }
    guard pause == nil else { return UploadOutcome(isPauseOfWrongClock ? .clockWrong : .paused) }
    let now = clock.now
    if let end = PINLock.lockedUntil(refused: store.state.refusedPINs, at: now) {
      return UploadOutcome(.locked(until: end))
    }
    guard let pin = PIN(typed) else { return UploadOutcome(.invalidPIN) }
    guard store.condition == .ready else {
      return UploadOutcome(.storage(.notReady(store.condition)))
    }
    do {
      let record = try uploadRecord()
      let isContinued = record.pending?.isContinued(by: pin, at: now) ?? false
      // The PIN of a complete upload needs no request.
      if record.completed?.matches(pin, at: now) != true {
        if let reason = await reasonAgainstUpload() { return UploadOutcome(reason) }
      }
      // An upload that is continued keeps the day that the user stated at first.
      if !isContinued || diagnosis.day != nil {
        store.updateIfPossible { $0.statedDay = diagnosis.day }
      }
      var flow = UploadFlow(
        record: record, isInteroperabilityEnabled: isInteroperabilityEnabled,
        risks: TransmissionRisks(
          configuration: remote.transmissionRiskConfiguration, diagnosis: diagnosis))
      return await run(flow.receivedPIN(pin, at: now), for: pin, in: &flow)
    } catch {
      return UploadOutcome(.storage(error))
    }
  }

  /// The reason not to upload now, from the current device configuration and the clock that its response states.
  private func reasonAgainstUpload() async -> UploadFailure? {
    await compareClock()
    if isClockWrong, await isWrongClockConfirmed() { return .clockWrong }
    return pause == nil ? nil : .paused
  }

  /// The stored record. A damaged one has been set aside: the upload starts again.
  private func uploadRecord() throws(StorageFailure) -> UploadRecord {
    do throws(SealedStorageError) {
      return try uploads.load()
    } catch .damaged {
      noteOwnDamage()
      return UploadRecord()
    } catch {
      throw StorageFailure(error)
    }
  }

  private func run(
    _ first: UploadFlow.Step, for pin: PIN, in flow: inout UploadFlow
  ) async -> UploadOutcome {
    var step = first
    while true {
      if case .end(let outcome, let keepsPending) = step {
        finish(outcome, of: pin, in: flow.record, keepsPending: keepsPending)
        return outcome
      }
      do {
        step = try await perform(step, in: &flow)
      } catch {
        step = flow.failed(Task.isCancelled ? .stopped : UploadFailure(error))
      }
    }
  }

  /// Performs one step and passes its result to the flow.
  private func perform(
    _ step: UploadFlow.Step, in flow: inout UploadFlow
  ) async throws -> UploadFlow.Step {
    try Task.checkCancellation()
    let requests = UploadRequests(configuration: configuration, randomness: randomness)
    switch step {
    case .requestKeys:
      announce(.uploadProgress(.waitingForConsent))
      let keys = try await diagnosisKeys()
      // Stored before the PIN is used: after a rejection, the next attempt on that day reuses these keys.
      // Keys that cannot be selected are not stored; the flow below rejects them with the reason.
      if (try? KeySelection.keys(of: keys, at: clock.now)) != nil {
        flow.record.released = UploadRecord.Released(keys: keys, date: clock.now)
        try uploads.save(flow.record)
      }
      return flow.receivedKeys(keys, hmacSecret: newHMACSecret(), at: clock.now)
    case .useKeys(let keys):
      let right = try keysOfRightTimes(keys)
      return flow.receivedKeys(right, hmacSecret: newHMACSecret(), at: clock.now)
    case .requestAttestation(let pending):
      return flow.receivedAttestation(try await devicePayload(for: pending))
    case .requestToken(let pending):
      announce(.uploadProgress(.requestingToken))
      try keep(flow.expired ?? pending, in: &flow)
      let response = try await network.send(requests.token(for: pending))
      return flow.receivedToken(try UploadResponses.token(in: response), at: clock.now)
    case .send(let pending):
      announce(.uploadProgress(.sending))
      try keep(pending, in: &flow)
      try UploadResponses.accepted(try await network.send(requests.upload(pending)))
      return flow.receivedAcceptance()
    case .end:
      return step
    }
  }

  /// Stores the upload before a request that uses its PIN or token.
  private func keep(_ pending: PendingUpload, in flow: inout UploadFlow) throws(StorageFailure) {
    flow.record.pending = pending
    try uploads.save(flow.record)
  }

  private func newHMACSecret() -> ZeroingBytes {
    var bytes = randomness.bytes(KeyHMAC.secretByteCount)
    return ZeroingBytes(moving: &bytes)
  }

  private func diagnosisKeys() async throws -> [ReleasedKey] {
    do {
      try await activate()
      return try keysOfRightTimes(try await framework.diagnosisKeys())
    } catch let error as ENError {
      throw UploadFailure(ofKeys: error)
    }
  }

  private func devicePayload(
    for pending: PendingUpload
  ) async throws -> DeviceVerificationPayload {
    do {
      return DeviceVerificationPayload(
        deviceToken: try await deviceCheck.token(),
        transactionID: pending.transactionID(
          appPackageName: configuration.appPackageName, regions: configuration.uploadRegions),
        timestampMilliseconds: clock.now.unixMillisecond)
    } catch {
      throw UploadFailure.noDeviceToken
    }
  }

  /// Stores the end of an upload: a success is remembered by its PIN, together with the end of the pending
  /// upload.
  private func finish(
    _ outcome: UploadOutcome, of pin: PIN, in record: UploadRecord, keepsPending: Bool
  ) {
    let now = clock.now
    var next = record
    if !keepsPending { next.pending = nil }
    if outcome == .success, record.completed?.matches(pin, at: now) != true {
      let used = record.pending?.pin ?? pin
      next.completed = CompletedUpload(of: used, at: now, randomness: randomness)
      next.released = nil
    }
    let isShared = next.completed != record.completed
    do {
      if next != record { try uploads.save(next) }
      // If this fails, `noteUnrecordedSharing` repeats it.
      if isShared { try store.update { $0.noteSharing(at: now) } }
      if next.pending == nil { forgetStatedDay() }
      guard outcome.reason == .pinRefused else { return }
      try store.update { state in
        state.refusedPINs = PINLock.relevant(state.refusedPINs + [now], at: now)
      }
    } catch {
      // The result is final even if it is not stored; the same PIN repeats the upload.
      logger.notice("storing the end of an upload failed", metadata: ["error": "\(error)"])
    }
  }
}

extension Task where Failure == Never {
  /// The value; the task is cancelled with its caller.
  var valueOrCancelled: Success {
    get async {
      await withTaskCancellationHandler {
        await value
      } onCancel: {
        cancel()
      }
    }
  }
}

/// The system's attestation that this is a genuine device: DeviceCheck on Apple's systems.
public protocol DeviceAttestation: Sendable {
  /// A new token, which the key server can verify once.
  ///
  /// - Throws: If the device or the vendor's server cannot create one at the moment.
  func token() async throws -> Data
}

import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import VerificationAPI
import World

extension ExposureApp {
  /// Shares the person's keys under `pin`. Documentation/App.md 5.
  ///
  /// `isInteroperabilityEnabled` says whether the person agreed that the keys go to other countries
  /// too. After any ending but a success or a clear no, the same call with the same PIN goes on
  /// where it stopped.
  public func upload(pin: String, isInteroperabilityEnabled: Bool) async -> UploadOutcome {
    guard !isUploading else { return UploadOutcome(.alreadyRunning) }
    isUploading = true
    defer { isUploading = false }
    let now = clock.now
    if let end = PINLock.lockedUntil(refused: store.state.refusedPINs, at: now) {
      return UploadOutcome(.locked(until: end))
    }
    guard let code = VerificationCode(pin) else { return UploadOutcome(.notAPIN) }
    guard store.condition == .ready else {
      return UploadOutcome(.storage(.notReady(store.condition)))
    }
    var flow = UploadFlow(
      pending: store.state.pendingUpload, isInteroperabilityEnabled: isInteroperabilityEnabled)
    return await carryOut(flow.personEntered(code, at: now), of: &flow)
  }

  /// Whether an upload waits to be gone on with.
  public var hasPendingUpload: Bool {
    store.state.pendingUpload.map { !$0.isExpired(at: clock.now) } ?? false
  }

  private func carryOut(_ first: UploadFlow.Step, of flow: inout UploadFlow) async -> UploadOutcome
  {
    var step = first
    while true {
      if case .end(let outcome, let keepsPending) = step {
        return ended(outcome, keepsPending: keepsPending)
      }
      do {
        step = try await next(after: step, of: &flow)
      } catch {
        step = flow.failed(Task.isCancelled ? .stopped : UploadReason(error))
      }
    }
  }

  /// Does one step and tells the flow what came of it.
  private func next(
    after step: UploadFlow.Step, of flow: inout UploadFlow
  ) async throws -> UploadFlow.Step {
    try Task.checkCancellation()
    let requests = UploadRequests(configuration: configuration, randomness: randomness)
    switch step {
    case .askForKeys:
      let keys = try await agreedKeys()
      let secret = Data(randomness.bytes(KeyHMAC.secretByteCount))
      return flow.keysCame(keys, hmacSecret: secret, at: clock.now)
    case .askDevice(let pending):
      return flow.deviceAnswered(try await devicePayload(for: pending))
    case .requestToken(let pending):
      try store.update { $0.pendingUpload = pending }
      let answer = try await network.send(try requests.token(for: pending))
      return flow.tokenCame(try UploadAnswers.token(in: answer), at: clock.now)
    case .send(let pending):
      try store.update { $0.pendingUpload = pending }
      try UploadAnswers.accepted(try await network.send(try requests.upload(pending)))
      return flow.serverAccepted()
    case .end:
      return step
    }
  }

  private func agreedKeys() async throws -> [PendingUpload.Key] {
    do {
      try await activate()
      return try await framework.keys(transmissionRisk: KeySelection.transmissionRisk)
    } catch let error as ENError {
      throw error.code == .notAuthorized ? UploadReason.notAgreed : .notEnabled
    }
  }

  private func devicePayload(
    for pending: PendingUpload
  ) async throws -> DeviceVerificationPayload {
    do {
      return DeviceVerificationPayload(
        deviceToken: try await deviceCheck.token(),
        transactionID: DeviceVerificationPayload.transactionID(
          appPackageName: configuration.appPackageName, keys: pending.uploadKeys,
          regions: [configuration.region]),
        timestampMilliseconds: Int64(clock.now.timeIntervalSince1970 * 1_000))
    } catch {
      throw UploadReason.noDeviceToken
    }
  }

  private func ended(_ outcome: UploadOutcome, keepsPending: Bool) -> UploadOutcome {
    let now = clock.now
    do {
      try store.update { state in
        if !keepsPending { state.pendingUpload = nil }
        if outcome.reason == .pinRefused { state.refusedPINs.append(now) }
        state.refusedPINs = PINLock.relevant(state.refusedPINs, at: now)
      }
    } catch {
      // The keys are in or not, whatever the disk says; a leftover goes when it has expired.
      logger.notice("the end of an upload was not stored", metadata: ["why": "\(error)"])
    }
    return outcome
  }
}

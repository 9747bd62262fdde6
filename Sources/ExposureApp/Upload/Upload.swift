import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import VerificationAPI
import World

extension ExposureApp {
  /// Uploads the user's keys with a PIN.
  ///
  /// After a failure other than a refusal, a second call with the same PIN continues the upload.
  ///
  /// - Parameter isInteroperabilityEnabled: True if the user agreed to share the keys with other
  ///   countries.
  public func upload(pin: String, isInteroperabilityEnabled: Bool) async -> UploadOutcome {
    guard !isUploading else { return UploadOutcome(.alreadyRunning) }
    isUploading = true
    defer { isUploading = false }
    // The pause may have ended since the last check.
    if pause != nil { await refreshDeviceConfiguration() }
    guard pause == nil else { return UploadOutcome(.paused) }
    let now = clock.now
    if let end = PINLock.lockedUntil(refused: store.state.refusedPINs, at: now) {
      return UploadOutcome(.locked(until: end))
    }
    guard let code = VerificationCode(pin) else { return UploadOutcome(.invalidPIN) }
    guard store.condition == .ready else {
      return UploadOutcome(.storage(.notReady(store.condition)))
    }
    var flow = UploadFlow(
      pending: store.state.pendingUpload, isInteroperabilityEnabled: isInteroperabilityEnabled)
    return await run(flow.receivedPIN(code, at: now), in: &flow)
  }

  /// True if an unfinished upload can be continued.
  public var hasPendingUpload: Bool {
    store.state.pendingUpload.map { !$0.isExpired(at: clock.now) } ?? false
  }

  private func run(_ first: UploadFlow.Step, in flow: inout UploadFlow) async -> UploadOutcome {
    var step = first
    while true {
      if case .end(let outcome, let keepsPending) = step {
        return finish(outcome, keepsPending: keepsPending)
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
      let keys = try await diagnosisKeys()
      let secret = Data(randomness.bytes(KeyHMAC.secretByteCount))
      return flow.receivedKeys(keys, hmacSecret: secret, at: clock.now)
    case .requestAttestation(let pending):
      return flow.receivedAttestation(try await devicePayload(for: pending))
    case .requestToken(let pending):
      try store.update { $0.pendingUpload = pending }
      let response = try await network.send(try requests.token(for: pending))
      return flow.receivedToken(try UploadResponses.token(in: response), at: clock.now)
    case .send(let pending):
      try store.update { $0.pendingUpload = pending }
      try UploadResponses.accepted(try await network.send(try requests.upload(pending)))
      return flow.receivedAcceptance()
    case .end:
      return step
    }
  }

  private func diagnosisKeys() async throws -> [PendingUpload.Key] {
    do {
      try await activate()
      return try await framework.diagnosisKeys().map {
        PendingUpload.Key(
          data: $0.keyData, rollingPeriod: $0.rollingPeriod,
          rollingStartNumber: $0.rollingStartNumber,
          transmissionRisk: KeySelection.transmissionRisk)
      }
    } catch let error as ENError {
      throw error.code == .notAuthorized ? UploadFailure.notAgreed : .notEnabled
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
      throw UploadFailure.noDeviceToken
    }
  }

  private func finish(_ outcome: UploadOutcome, keepsPending: Bool) -> UploadOutcome {
    let now = clock.now
    do {
      try store.update { state in
        if !keepsPending { state.pendingUpload = nil }
        if outcome.reason == .pinRefused { state.refusedPINs.append(now) }
        state.refusedPINs = PINLock.relevant(state.refusedPINs, at: now)
      }
    } catch {
      // The result is final even if it is not stored; the pending upload expires later.
      logger.notice("storing the end of an upload failed", metadata: ["error": "\(error)"])
    }
    return outcome
  }
}

/// The system's attestation that this is a genuine device: DeviceCheck on Apple's systems.
public protocol DeviceAttestation: Sendable {
  /// A new token, which the key server can verify once.
  ///
  /// - Throws: If the device or the vendor's server cannot create one at the moment.
  func token() async throws -> Data
}

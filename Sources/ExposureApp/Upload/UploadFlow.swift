// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Secrets
import World

/// The state machine of one upload: PIN, consent, attestation, token, upload.
///
/// Each function takes an event and returns the next step. The PIN is used last, after everything else
/// that can fail. From then on the upload is stored before each request, so that an identical request
/// can follow a lost response.
struct UploadFlow {
  enum State: Equatable {
    case waitingForPIN
    case waitingForKeys(PIN)
    case waitingForAttestation(PendingUpload, isStored: Bool)
    case waitingForToken(PendingUpload)
    case sending(PendingUpload)
    case ended
  }

  enum Step: Equatable {
    /// Request the keys from the framework, which asks the user.
    case requestKeys
    /// Use the keys that the framework has released today.
    case useKeys([ReleasedKey])
    /// Request a device attestation.
    case requestAttestation(PendingUpload)
    /// Store the upload, then exchange the PIN for a token.
    case requestToken(PendingUpload)
    /// Store the upload, then send the keys.
    case send(PendingUpload)
    /// The upload ended; the stored upload is kept or removed.
    case end(UploadOutcome, keepsPending: Bool)
  }

  private(set) var state = State.waitingForPIN
  /// The upload with its expired token, while another token is requested. The key server may have accepted it.
  private(set) var expired: PendingUpload?
  /// The record of uploads, which the caller updates and stores.
  var record: UploadRecord
  private let isInteroperabilityEnabled: Bool
  private let risks: TransmissionRisks

  /// Creates a flow that continues with `record`. An upload that it continues keeps its values.
  init(
    record: UploadRecord, isInteroperabilityEnabled: Bool, risks: TransmissionRisks = .constant
  ) {
    self.record = record
    self.isInteroperabilityEnabled = isInteroperabilityEnabled
    self.risks = risks
  }

  /// Handles a PIN that the user entered.
  ///
  /// The PIN of a complete upload succeeds at once on the same day, and is refused later. An earlier upload
  /// with a valid token continues with any PIN. One whose token has expired, or that has none, continues with its own
  /// PIN for a day.
  mutating func receivedPIN(_ pin: PIN, at now: Date) -> Step {
    guard state == .waitingForPIN else { return unexpectedEvent() }
    if let completed = record.completed, completed.matches(pin, at: now) {
      guard completed.date.unixDay == now.unixDay else { return end(.pinUsed, keepsPending: true) }
      state = .ended
      return .end(.success, keepsPending: true)
    }
    if let pending = record.pending, pending.isContinued(by: pin, at: now) {
      guard !pending.isReady(at: now) else { return requestAttestation(pending, isStored: true) }
      expired = pending.token == nil ? nil : pending
      return requestAttestation(pending.withoutToken(), isStored: true)
    }
    state = .waitingForKeys(pin)
    guard let released = record.released, released.isValid(at: now) else { return .requestKeys }
    return .useKeys(released.keys)
  }

  /// Handles the keys that the framework released with the user's consent.
  mutating func receivedKeys(
    _ keys: [ReleasedKey], hmacSecret: ZeroingBytes, at now: Date
  ) -> Step {
    guard case .waitingForKeys(let pin) = state else { return unexpectedEvent() }
    do throws(UploadFailure) {
      let chosen = try KeySelection.keys(of: keys, risks, at: now)
      let pending = PendingUpload(
        pin: pin, keys: chosen, hmacSecret: hmacSecret,
        isInteroperabilityEnabled: isInteroperabilityEnabled, at: now)
      return requestAttestation(pending, isStored: false)
    } catch {
      return end(error, keepsPending: false)
    }
  }

  /// Handles a device attestation. Every attempt needs a new one, because servers accept each only once and
  /// for a short time. The keys and the token stay the same.
  mutating func receivedAttestation(_ payload: DeviceVerificationPayload) -> Step {
    guard case .waitingForAttestation(let pending, _) = state else { return unexpectedEvent() }
    let attested = pending.attested(by: payload)
    expired = expired?.attested(by: payload)
    return attested.token == nil ? requestToken(attested) : send(attested)
  }

  /// Handles the token that the verification server returned.
  mutating func receivedToken(_ token: ZeroingBytes, at now: Date) -> Step {
    guard case .waitingForToken(let pending) = state else { return unexpectedEvent() }
    return send(pending.granted(token, at: now))
  }

  /// Handles the key server's acceptance of the keys.
  mutating func receivedAcceptance() -> Step {
    guard case .sending = state else { return unexpectedEvent() }
    state = .ended
    return .end(.success, keepsPending: false)
  }

  /// Handles the failure of a step. If the PIN has expired too, the upload is sent once more with the expired
  /// token, because the key server answers an upload that it has accepted as before. The server may have
  /// processed the request, so the upload is kept for a retry unless the server rejected it.
  mutating func failed(_ reason: UploadFailure) -> Step {
    if case .waitingForToken = state, reason == .pinRefused, let sent = expired {
      expired = nil
      return send(sent)
    }
    return switch state {
    case .waitingForPIN: end(reason, keepsPending: record.pending != nil)
    case .ended: unexpectedEvent()
    case .waitingForKeys: end(reason, keepsPending: false)
    case .waitingForAttestation(_, let isStored): end(reason, keepsPending: isStored)
    case .waitingForToken, .sending: end(reason, keepsPending: !reason.isFinal)
    }
  }

  private mutating func requestAttestation(_ pending: PendingUpload, isStored: Bool) -> Step {
    state = .waitingForAttestation(pending, isStored: isStored)
    return .requestAttestation(pending)
  }

  private mutating func requestToken(_ pending: PendingUpload) -> Step {
    state = .waitingForToken(pending)
    return .requestToken(pending)
  }

  private mutating func send(_ pending: PendingUpload) -> Step {
    state = .sending(pending)
    return .send(pending)
  }

  private mutating func end(_ reason: UploadFailure, keepsPending: Bool) -> Step {
    state = .ended
    return .end(UploadOutcome(reason), keepsPending: keepsPending)
  }

  /// Handles an event that the state does not allow; nothing changes.
  private mutating func unexpectedEvent() -> Step {
    .end(UploadOutcome(.alreadyRunning), keepsPending: true)
  }
}

extension UploadFailure {
  /// True if an identical request cannot succeed.
  var isFinal: Bool { self == .pinRefused || self == .uploadRefused }

  /// The failure for an error of `getDiagnosisKeys`.
  init(ofKeys error: ENError) {
    self =
      switch error.code {
      case .notAuthorized: .notAgreed
      case .notEnabled: .notEnabled
      case .insufficientStorage: .storage(.full)
      case .dataInaccessible: .keysUnreadable
      default: .systemFailed
      }
  }

  /// Maps any error of an upload.
  init(_ error: any Error) {
    switch error {
    case let reason as UploadFailure: self = reason
    case is CancellationError: self = .stopped
    case let failure as StorageFailure: self = .storage(failure)
    case NetworkFailure.certificateOutOfDate: self = .clockWrong
    case NetworkFailure.tooLarge: self = .serverBusy(retryAfterSeconds: nil)
    case is NetworkFailure: self = .noInternet
    default: self = .systemFailed
    }
  }
}

import Foundation
import KeyServerAPI
import VerificationAPI

/// One upload without the world: PIN, consent, device, token, send. Documentation/App.md 5.
///
/// What happened goes in, what to do next comes out. The order keeps the PIN safe: it is spent only
/// when everything else that can fail has been done, and from then on `pending` is stored before
/// each request, so that a lost answer is asked for again in the same words.
struct UploadFlow {
  /// Where the upload stands.
  enum State: Equatable {
    case waitingForPIN
    case waitingForKeys(VerificationCode)
    case waitingForDevice(PendingUpload, isStored: Bool)
    case waitingForToken(PendingUpload)
    case sending(PendingUpload)
    case ended
  }

  /// What to do next.
  enum Step: Equatable {
    /// Ask the system, and it the person, for the keys.
    case askForKeys
    /// Ask the device for its word.
    case askDevice(PendingUpload)
    /// Store it, then spend the PIN.
    case requestToken(PendingUpload)
    /// Store it, then upload.
    case send(PendingUpload)
    /// It is over; the stored upload is forgotten or kept to go on with.
    case end(UploadOutcome, keepsPending: Bool)
  }

  /// Where the upload stands.
  private(set) var state = State.waitingForPIN
  private let pending: PendingUpload?
  private let isInteroperabilityEnabled: Bool

  /// A new upload; `pending` is what an earlier one left behind.
  init(pending: PendingUpload?, isInteroperabilityEnabled: Bool) {
    self.pending = pending
    self.isInteroperabilityEnabled = isInteroperabilityEnabled
  }

  /// The person typed a PIN that may be tried. An upload that has its token goes on whatever the
  /// PIN is; one that is still without goes on only with its own.
  mutating func personEntered(_ code: VerificationCode, at now: Date) -> Step {
    guard state == .waitingForPIN else { return misuse() }
    if let pending, !pending.isExpired(at: now) {
      if pending.token != nil || pending.pin == code.characters {
        return askDevice(pending, isStored: true)
      }
    }
    state = .waitingForKeys(code)
    return .askForKeys
  }

  /// The system gave the keys: the person has agreed.
  mutating func keysCame(_ keys: [PendingUpload.Key], hmacSecret: Data, at now: Date) -> Step {
    guard case .waitingForKeys(let code) = state else { return misuse() }
    do throws(UploadReason) {
      let chosen = try KeySelection.keys(of: keys, at: now)
      let pending = PendingUpload(
        code: code, keys: chosen, hmacSecret: hmacSecret,
        isInteroperabilityEnabled: isInteroperabilityEnabled, at: now)
      return askDevice(pending, isStored: false)
    } catch {
      return end(error, keepsPending: false)
    }
  }

  /// The device gave its word. It is asked anew for every try, since servers take its word once and
  /// only while it is fresh; the keys and the token stay the same.
  mutating func deviceAnswered(_ payload: DeviceVerificationPayload) -> Step {
    guard case .waitingForDevice(let pending, _) = state else { return misuse() }
    let attested = pending.attested(by: payload)
    return attested.token == nil ? requestToken(attested) : send(attested)
  }

  /// The verification server took the PIN.
  mutating func tokenCame(_ token: String, at now: Date) -> Step {
    guard case .waitingForToken(let pending) = state else { return misuse() }
    return send(pending.granted(token, at: now))
  }

  /// The key server took the keys.
  mutating func serverAccepted() -> Step {
    guard case .sending = state else { return misuse() }
    state = .ended
    return .end(.success, keepsPending: false)
  }

  /// Something said no, or did not answer. What has been asked may have been done, so everything
  /// that is not a clear no keeps the upload for another try.
  mutating func failed(_ reason: UploadReason) -> Step {
    switch state {
    case .waitingForPIN: end(reason, keepsPending: pending != nil)
    case .ended: misuse()
    case .waitingForKeys: end(reason, keepsPending: false)
    case .waitingForDevice(_, let isStored): end(reason, keepsPending: isStored)
    case .waitingForToken, .sending: end(reason, keepsPending: !reason.isFinal)
    }
  }

  private mutating func askDevice(_ pending: PendingUpload, isStored: Bool) -> Step {
    state = .waitingForDevice(pending, isStored: isStored)
    return .askDevice(pending)
  }

  private mutating func requestToken(_ pending: PendingUpload) -> Step {
    state = .waitingForToken(pending)
    return .requestToken(pending)
  }

  private mutating func send(_ pending: PendingUpload) -> Step {
    state = .sending(pending)
    return .send(pending)
  }

  private mutating func end(_ reason: UploadReason, keepsPending: Bool) -> Step {
    state = .ended
    return .end(UploadOutcome(reason), keepsPending: keepsPending)
  }

  /// Something happened that nobody waited for: an answer that comes twice changes nothing.
  private mutating func misuse() -> Step {
    .end(UploadOutcome(.alreadyRunning), keepsPending: true)
  }
}

extension UploadReason {
  /// Whether asking again in the same words cannot help.
  fileprivate var isFinal: Bool {
    switch self {
    case .pinRefused, .uploadRefused: true
    default: false
    }
  }
}

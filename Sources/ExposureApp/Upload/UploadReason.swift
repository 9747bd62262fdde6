import Foundation

/// Why an upload did not succeed: one case for each thing the person can do.
public enum UploadReason: Error, Sendable, Hashable {
  /// What was typed is no PIN.
  case notAPIN
  /// Too many PINs were refused; none is tried before the moment.
  case locked(until: Date)
  /// Another upload is under way.
  case alreadyRunning
  /// The person did not agree to share the keys.
  case notAgreed
  /// Exposure notifications are off, so there are no keys to ask for.
  case notEnabled
  /// The phone has no key of the last fourteen days that is over.
  case nothingToShare
  /// More keys than a phone can have in fourteen days.
  case tooManyKeys
  /// More keys for one day than a phone can have.
  case tooManyKeysOfOneDay
  /// The keys do not fit together.
  case keysOutOfOrder
  /// The phone could not prove that it is one.
  case noDeviceToken
  /// The PIN is unknown, used or too old.
  case pinRefused
  /// The server did not take the keys under this token.
  case uploadRefused
  /// The server is busy; nothing is lost, the same PIN goes on where it stopped.
  case serverBusy(retryAfterSeconds: Int?)
  /// There is no connection; the same PIN goes on where it stopped.
  case noInternet
  /// The upload was stopped; the same PIN goes on where it stopped.
  case stopped
  /// The app could not store what it needs in order not to lose the PIN.
  case storage(StorageFailure)
}

extension UploadReason {
  /// The ending on the bridge.
  var result: UploadResult {
    switch self {
    case .notAgreed: .accessDenied
    case .noInternet: .noInternet
    case .locked, .alreadyRunning, .nothingToShare, .tooManyKeys, .tooManyKeysOfOneDay,
      .keysOutOfOrder, .stopped:
      .canceled
    case .notAPIN, .notEnabled, .noDeviceToken, .pinRefused, .uploadRefused, .serverBusy, .storage:
      .failure
    }
  }
}

extension UploadReason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAPIN: "A PIN has six letters and digits; look at it again."
    case .locked: "Too many wrong PINs; wait a while, then try again."
    case .alreadyRunning: "The upload is already under way; wait for it."
    case .notAgreed: "Nothing was shared, as you did not agree."
    case .notEnabled: "Exposure notifications are off; turn them on, then try again."
    case .nothingToShare: "This phone has nothing to share yet; try again tomorrow."
    case .tooManyKeys: "This phone has more keys than can be right; call the health authority."
    case .tooManyKeysOfOneDay:
      "This phone has too many keys for one day; call the health authority."
    case .keysOutOfOrder: "This phone's keys do not fit together; call the health authority."
    case .noDeviceToken: "This phone could not be confirmed; try again with a connection."
    case .pinRefused: "The PIN is not valid or has been used; ask for a new one."
    case .uploadRefused: "The server did not take the keys; ask for a new PIN."
    case .serverBusy: "The server is busy; try again later with the same PIN."
    case .noInternet: "There is no connection; try again with the same PIN."
    case .stopped: "The upload was stopped; it goes on with the same PIN."
    case .storage(let failure): failure.description
    }
  }
}

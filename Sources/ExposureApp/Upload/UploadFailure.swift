// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The reason why an upload failed: one case for each action that the user can take.
public enum UploadFailure: Error, Sendable, Hashable {
  /// The text is not a PIN.
  case invalidPIN
  /// Too many PINs were refused; the entry is locked.
  case locked(until: Date)
  /// Another upload is running.
  case alreadyRunning
  /// The health authority has paused uploads; a retry later with the same PIN continues.
  case paused
  /// The user did not agree to share the keys.
  case notAgreed
  /// Exposure notifications are off, so there are no keys.
  case notEnabled
  /// The phone's keys cannot be read.
  case keysUnreadable
  /// The system did not release the keys in time, or failed.
  case systemFailed
  /// The phone has no finished key of the last fourteen days.
  case nothingToShare
  /// The phone's clock is wrong.
  case clockWrong
  /// All keys were made while the phone's clock was wrong, or start in its future.
  case keysOfWrongTime
  /// More keys than fourteen days can have.
  case tooManyKeys
  /// More keys with the same start than a phone can have.
  case tooManyKeysOfOneDay
  /// The keys overlap or are not in order.
  case keysOutOfOrder
  /// The device attestation failed.
  case noDeviceToken
  /// The PIN is unknown, used or expired.
  case pinRefused
  /// The keys were shared with this PIN on an earlier day; nothing was sent now.
  case pinUsed
  /// The key server rejected the upload.
  case uploadRefused
  /// The server is busy or its response is not valid; a retry with the same PIN continues.
  case serverBusy(retryAfterSeconds: Int?)
  /// There is no connection; a retry with the same PIN continues.
  case noInternet
  /// The upload was cancelled; a retry with the same PIN continues.
  case stopped
  /// The app could not store the upload before its next request.
  case storage(StorageFailure)
}

extension UploadFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalidPIN:
      "A PIN has six to ten letters and digits, a doctor's code six to eleven digits; check your input."
    case .locked: "Too many wrong PINs; wait a while, then try again."
    case .alreadyRunning: "Another upload is running; wait until it ends."
    case .paused: "The health authority has paused uploads; try again later with the same PIN."
    case .notAgreed: "Nothing was shared, because you did not agree."
    case .notEnabled: "Exposure notifications are off; turn them on, then try again."
    case .keysUnreadable:
      "This phone's keys cannot be read; unlock or restart the phone, then try again."
    case .systemFailed: "The phone's exposure notifications failed or did not respond; try again."
    case .nothingToShare:
      "This phone has nothing to share before the end of its first day (00:00 UTC), so the PIN was "
        + "not used; ask for a new one then."
    case .clockWrong:
      "This phone's clock is wrong, so nothing was shared; set the date and time, and try again with the same PIN."
    case .keysOfWrongTime:
      "This phone's clock was wrong when all its keys were made, so nothing was shared and the PIN was not used; ask "
        + "for a new PIN tomorrow."
    case .tooManyKeys: "This phone has too many keys; contact the health authority."
    case .tooManyKeysOfOneDay:
      "This phone has too many keys for one day; contact the health authority."
    case .keysOutOfOrder: "This phone's keys are inconsistent; contact the health authority."
    case .noDeviceToken: "This phone could not be verified; try again with a connection."
    case .pinRefused: "The PIN is not valid or has been used; ask for a new one."
    case .pinUsed:
      "Your keys were shared with this PIN before, and nothing was sent now; to share later keys, ask for a new PIN."
    case .uploadRefused: "The server rejected the keys; ask for a new PIN."
    case .serverBusy:
      "The server is busy or its response is not valid; try again later with the same PIN."
    case .noInternet: "There is no connection; try again with the same PIN."
    case .stopped: "The upload was stopped; continue with the same PIN."
    case .storage(let failure): failure.description
    }
  }
}

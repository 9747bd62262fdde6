// SPDX-License-Identifier: Apache-2.0
/// The result of an upload.
public struct UploadOutcome: Sendable, Hashable {
  /// The result in the categories of ProteGO Safe.
  public let result: UploadResult
  /// The reason of a failure; `nil` for a success.
  public let reason: UploadFailure?

  static let success = UploadOutcome(result: .success, reason: nil)
}

extension UploadOutcome {
  init(_ reason: UploadFailure) { self.init(result: reason.result, reason: reason) }
}

/// The category of an upload's result; the raw values are ProteGO Safe's.
public enum UploadResult: Int, Sendable, Codable, CaseIterable {
  /// The keys were accepted.
  case success = 1
  /// The upload failed.
  case failure = 2
  /// The upload was stopped, or nothing was sent.
  case canceled = 3
  /// There is no connection; a retry with the same PIN continues.
  case noInternet = 4
  /// The user did not agree to share the keys.
  case accessDenied = 5
}

extension UploadFailure {
  var result: UploadResult {
    switch self {
    case .notAgreed: .accessDenied
    case .noInternet: .noInternet
    case .locked, .alreadyRunning, .paused, .pinUsed, .nothingToShare, .clockWrong,
      .keysOfWrongTime, .tooManyKeys, .tooManyKeysOfOneDay, .keysOutOfOrder, .stopped:
      .canceled
    case .invalidPIN, .notEnabled, .keysUnreadable, .systemFailed, .noDeviceToken, .pinRefused,
      .uploadRefused, .serverBusy, .storage:
      .failure
    }
  }
}

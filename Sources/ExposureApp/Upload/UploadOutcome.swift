// SPDX-License-Identifier: Apache-2.0
/// The result of an upload.
public struct UploadOutcome: Sendable, Hashable {
  /// The result in the categories of ProteGO Safe.
  public let result: UploadResult
  /// The reason of a failure; `nil` for a success.
  public let reason: UploadFailure?

  static let success = UploadOutcome(result: .success, reason: nil)

  init(result: UploadResult, reason: UploadFailure?) {
    self.result = result
    self.reason = reason
  }

  init(_ reason: UploadFailure) {
    self.init(result: reason.result, reason: reason)
  }
}

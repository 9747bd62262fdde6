/// How an upload ended, and what the person can do about it.
public struct UploadOutcome: Sendable, Hashable {
  /// The five endings that the bridge knows.
  public let result: UploadResult
  /// Why it is not a success; nil for a success.
  public let reason: UploadReason?

  /// The keys are in.
  static let success = UploadOutcome(result: .success, reason: nil)

  init(result: UploadResult, reason: UploadReason?) {
    self.result = result
    self.reason = reason
  }

  /// The ending that `reason` leads to.
  init(_ reason: UploadReason) {
    self.init(result: reason.result, reason: reason)
  }
}

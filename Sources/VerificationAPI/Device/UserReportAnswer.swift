/// Until when the code is good that was sent, if it was: whether it was is not said.
public struct UserReportAnswer: Codable, Sendable, Hashable {
  /// As RFC 1123 writes it, in UTC.
  public var expiresAt: String
  /// In Unix seconds.
  public var expiresAtTimestamp: Int64

  /// Answers with the end of the code's time in both forms.
  public init(expiresAt: String, expiresAtTimestamp: Int64) {
    self.expiresAt = expiresAt
    self.expiresAtTimestamp = expiresAtTimestamp
  }
}

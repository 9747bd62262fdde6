/// What became of a code.
public struct CodeStatusAnswer: Codable, Sendable, Hashable {
  /// Whether somebody has used it; absent in the answer to ending a code.
  public var claimed: Bool?
  /// When the short code ends, in Unix seconds.
  public var expiresAtTimestamp: Int64
  /// When the long code ends, in Unix seconds, where there is one.
  public var longExpiresAtTimestamp: Int64?

  /// Answers with the ends of the code's times.
  public init(claimed: Bool?, expiresAtTimestamp: Int64, longExpiresAtTimestamp: Int64?) {
    self.claimed = claimed
    self.expiresAtTimestamp = expiresAtTimestamp
    self.longExpiresAtTimestamp = longExpiresAtTimestamp
  }
}

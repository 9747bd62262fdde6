/// `{"error", "errorCode", "error_code"}`: how Google's contract refuses. `error_code` is an older name
/// of `errorCode` that some apps still read.
public struct VerificationFailure: Codable, Sendable, Hashable, Error {
  /// One sentence for whoever wrote the client, with nothing secret in it.
  public var error: String
  /// What the client's program can act on.
  public var errorCode: VerificationErrorCode
  /// The same.
  public var legacyErrorCode: VerificationErrorCode

  /// Refuses with `code`.
  public init(_ code: VerificationErrorCode, _ sentence: String) {
    error = sentence
    errorCode = code
    legacyErrorCode = code
  }

  private enum CodingKeys: String, CodingKey {
    case error, errorCode
    case legacyErrorCode = "error_code"
  }
}

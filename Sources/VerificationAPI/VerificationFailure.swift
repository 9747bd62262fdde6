// SPDX-License-Identifier: Apache-2.0
/// The error body of Google's contract: `{"error", "errorCode", "error_code"}`.
///
/// `error_code` is an older name of `errorCode` that some apps still read.
public struct VerificationFailure: Codable, Sendable, Hashable, Error {
  /// One sentence for the developer of the client; it contains no secret.
  public var error: String
  /// The error code for programs.
  public var errorCode: VerificationErrorCode
  /// The value of `error_code`; equals `errorCode`.
  public var legacyErrorCode: VerificationErrorCode

  /// Creates an error body.
  public init(_ code: VerificationErrorCode, _ message: String) {
    error = message
    errorCode = code
    legacyErrorCode = code
  }

  private enum CodingKeys: String, CodingKey {
    case error, errorCode
    case legacyErrorCode = "error_code"
  }
}

/// Where the verification server is asked. Documentation/SeedContract.md 2 and 3, and
/// Documentation/VerificationServer.md 2 and 3.
public enum VerificationRoute {
  /// POST: a code for a token.
  public static let accessToken = "/getAccessToken"
  /// POST: a new code, for the health authority's own systems.
  public static let generateCode = "/generateCode"
  /// POST: many new codes at once, for the same.
  public static let generateCodesBatch = "/generateCodesBatch"
  /// The header in which those systems show who they are.
  public static let apiTokenHeader = "api-token"
  /// The message of every refused code, whatever the reason.
  public static let invalidCode = "Invalid code"

  /// POST: a code for a verification token (Google's contract, device key).
  public static let verify = "/api/verify"
  /// POST: a verification token for a certificate (device key).
  public static let certificate = "/api/certificate"
  /// POST: a code sent to the phone of somebody who reports a test of their own (device key).
  public static let userReport = "/api/user-report"
  /// POST: a new code (admin key).
  public static let issue = "/api/issue"
  /// POST: up to ten new codes (admin key).
  public static let batchIssue = "/api/batch-issue"
  /// POST: whether a code was used (admin key).
  public static let checkCodeStatus = "/api/checkcodestatus"
  /// POST: ends a code (admin key).
  public static let expireCode = "/api/expirecode"
  /// The header of the API key in Google's contract.
  public static let apiKeyHeader = "X-API-Key"

  /// GET: the public keys of tokens and certificates.
  public static let keys = "/.well-known/jwks.json"
  /// GET: the same as a bare list, as Google's key server reads it.
  public static let keyList = "/jwks"
}

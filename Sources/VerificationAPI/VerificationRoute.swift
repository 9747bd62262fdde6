/// The paths, headers and fixed texts of the verification server.
public enum VerificationRoute {
  /// POST: exchanges a PIN for an upload token (ProteGO Safe contract).
  public static let accessToken = "/getAccessToken"
  /// POST: a new PIN, for the health authority's systems.
  public static let generateCode = "/generateCode"
  /// POST: many new PINs, for the health authority's systems.
  public static let generateCodesBatch = "/generateCodesBatch"
  /// The header with the API token of the health authority's systems.
  public static let apiTokenHeader = "api-token"
  /// The message of every response to an invalid code, whatever the reason.
  public static let invalidCode = "Invalid code"

  /// POST: exchanges a code for a verification token (Google's contract, device key).
  public static let verify = "/api/verify"
  /// POST: exchanges a verification token for a certificate (device key).
  public static let certificate = "/api/certificate"
  /// POST: sends a code by SMS for a test that the user made (device key).
  public static let userReport = "/api/user-report"
  /// POST: a new code (admin key).
  public static let issue = "/api/issue"
  /// POST: up to ten new codes (admin key).
  public static let batchIssue = "/api/batch-issue"
  /// POST: the status of a code (admin key).
  public static let checkCodeStatus = "/api/checkcodestatus"
  /// POST: expires a code at once (admin key).
  public static let expireCode = "/api/expirecode"
  /// GET: the numbers of codes by day (stats or admin key).
  public static let statistics = "/api/stats/realm.json"
  /// The header with the API key in Google's contract.
  public static let apiKeyHeader = "X-API-Key"

  /// GET: the public keys of tokens and certificates.
  public static let keys = "/.well-known/jwks.json"
  /// GET: the same keys as a bare list, the form that Google's key server reads.
  public static let keyList = "/jwks"
}

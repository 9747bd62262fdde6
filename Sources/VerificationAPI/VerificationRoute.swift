/// Where the verification server is asked. Documentation/SeedContract.md 2 and 3.
public enum VerificationRoute {
  /// POST: a code for a token.
  public static let accessToken = "/getAccessToken"
  /// POST: a new code, for the health authority's own systems.
  public static let generateCode = "/generateCode"
  /// The header in which those systems show who they are.
  public static let apiTokenHeader = "api-token"
  /// The message of every refused code, whatever the reason.
  public static let invalidCode = "Invalid code"
}

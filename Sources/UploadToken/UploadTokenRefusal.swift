/// Why a token was not accepted. For our own log and tests: the caller hears one 401 for all.
public enum UploadTokenRefusal: String, Error, Sendable, CaseIterable {
  /// Not a token of ours: ask the person for a new code.
  case malformed
  /// Signed by a key that this server does not hold: add the key, or the token is not ours.
  case unknownKey
  /// The signature does not hold, or is of another algorithm than ES256.
  case wrongSignature
  /// Issued by somebody else.
  case wrongIssuer
  /// Issued for another server.
  case wrongAudience
  /// Not good yet: the issuer's clock is ahead of ours.
  case notYetValid
  /// No longer good: ask the person for a new code.
  case expired
}

import Foundation

/// What an upload token may measure.
public enum UploadTokenLimit {
  /// The longest token text that is looked at, in characters.
  public static let charactersMax = 4096
  /// The size of an HMAC over keys, in bytes.
  public static let keyHMACBytes = 32
  /// How far the verifier's clock may be behind the issuer's, in seconds: `nbf` lies so long before
  /// `iat`, for a phone uploads within a second of getting its token. `exp` has no such grace.
  public static let clockSkewSeconds: TimeInterval = 60
  /// The largest number of seconds since 1970 that a claim may name (the year 9999).
  static let unixSecondsMax: Int64 = 253_402_300_799
}

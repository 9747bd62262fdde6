import Foundation

/// What the verification server is willing to carry. Anything outside is refused at the door.
public enum VerificationLimit {
  /// The largest request body, in bytes.
  public static let bodyBytesMax = 8 * 1024
  /// How long ago symptoms may have begun, in days.
  public static let symptomAgeDaysMax = 28
  /// The size of the HMAC over keys that binds a token, in bytes.
  public static let keyHMACBytes = 32
  /// How long an api token is, in characters.
  public static let apiTokenCharacters = 16...256
  /// How many api tokens are good at the same time.
  public static let apiTokensMax = 32
  /// The size of the key under which codes are kept, in bytes.
  public static let codeHashKeyBytes = 32
  /// How long a code may live, in seconds: a minute to a day.
  public static let codeLifetimeSeconds: ClosedRange<TimeInterval> = 60...86_400
  /// How long a token may be good, in seconds.
  public static let tokenLifetimeSeconds: ClosedRange<TimeInterval> = 60...86_400
  /// How often a code is drawn again because a live one is the same. With a million live codes one
  /// draw in two thousand is taken, so the last draw is never reached.
  public static let drawsMax = 20
  /// How many expired codes are removed in one transaction, so that nobody waits long for it.
  public static let removedAtOnceMax = 500
  /// How often expired codes are looked for, in seconds.
  public static let cleanupPeriodSeconds: TimeInterval = 300
}

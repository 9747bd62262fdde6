import Foundation

/// What the verification server is willing to carry. Anything outside is refused at the door.
public enum VerificationLimit {
  /// The largest request body of the seed contract, in bytes.
  public static let bodyBytesMax = 8 * 1024
  /// The largest request body of Google's contract, in bytes.
  public static let googleBodyBytesMax = 64_000
  /// How long a client may take to send a body, in seconds.
  public static let bodySecondsMax = 20
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
  /// How long an expired code is remembered, in seconds, so that its status can still be asked for.
  public static let expiredCodeKeptSeconds: TimeInterval = 86_400
  /// How many attempts may be borne in a window, and how many codes issued in a day.
  public static let attempts = 1...1_000_000
  /// The window of attempts, in seconds: up to a day.
  public static let attemptWindowSeconds = 1...86_400
  /// How old the signing keys may be before they are read anew, in seconds.
  public static let signingKeysAgeSecondsMax: TimeInterval = 5
  /// How many codes `generateCodesBatch` issues at a time.
  public static let batchCodes = 1...1_000
  /// How many codes `/api/batch-issue` issues at a time.
  public static let batchIssueCodesMax = 10
  /// How far a clock may be ahead of UTC, in minutes.
  public static let timeZoneMinutes = -840.0...840.0
  /// How many guesses at a short code must be expected before one hits a live code. Where more codes
  /// are live than the digits allow for, a digit is added.
  public static let guessesPerCodeMin = 10_000
  /// How far live codes are counted to find that out: beyond it ten digits are the most there are.
  public static let liveCountMax = 100_000
  /// How long the short code may be good, in seconds: up to an hour.
  public static let shortCodeLifetimeSeconds: ClosedRange<TimeInterval> = 60...3_600
  /// How long the long code may be good, in seconds: up to a day.
  public static let longCodeLifetimeSeconds: ClosedRange<TimeInterval> = 60...86_400
  /// How long a certificate may be good, in seconds.
  public static let certificateLifetimeSeconds: ClosedRange<TimeInterval> = 60...3_600
  /// How far a certificate's first second lies before its issue, in seconds, for clocks differ.
  public static let certificateSkewSeconds: TimeInterval = 5
  /// The size of the nonce of a user report, in bytes.
  public static let nonceBytes = 256
  /// How long a phone that reported and used its code waits before the next report, in seconds.
  public static let reportAgainSeconds: TimeInterval = 30 * 86_400
  /// How long a phone waits that reported and did not use its code, in seconds.
  public static let reportUnclaimedSeconds: TimeInterval = 3_600
  /// How many characters the external issuer's name may have.
  public static let externalIssuerCharactersMax = 255
  /// How many characters the name of an API key may have.
  public static let apiKeyNameCharacters = 1...100
  /// How many texts of SMS a server may choose from.
  public static let smsTemplatesMax = 50
  /// How many characters the label of such a text may have.
  public static let smsLabelCharacters = 1...100
  /// How long the domain of links may be, in bytes.
  public static let smsDomainBytesMax = 200
  /// How many texts may wait in the folder of `SMSSpool`.
  public static let smsSpooledMax = 10_000
  /// How many characters the text of an SMS may have before its variables are filled in.
  public static let smsTemplateCharactersMax = 800
  /// How many it may have after.
  public static let smsCharactersMax = 918
  /// How many digits a phone number has.
  public static let phoneDigits = 8...15
  /// How long the SMS gateway may take to answer, in seconds.
  public static let smsSecondsMax: Int64 = 10
  /// The largest answer of the SMS gateway that is read, in bytes.
  public static let smsAnswerBytesMax = 64 << 10
}

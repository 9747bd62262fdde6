import Foundation
import VerificationAPI

/// How codes of Google's contract are made and what they are taken for: what its servers call the
/// settings of a realm.
public struct CodePolicy: Sendable {
  /// How many digits a short code has, 6 to 10; more while very many are live.
  public var shortCodeDigits = 8
  /// How long a short code is good, in seconds.
  public var shortCodeLifetime: TimeInterval = 900
  /// How many characters a long code has, 12 to 16.
  public var longCodeCharacters = 16
  /// How long a long code is good, in seconds.
  public var longCodeLifetime: TimeInterval = 86_400
  /// How long a verification token is good, in seconds.
  public var verificationTokenLifetime: TimeInterval = 86_400
  /// How long a certificate is good, in seconds.
  public var certificateLifetime: TimeInterval = 900
  /// The kinds of test for which codes are issued.
  public var testTypes: Set<TestType> = [.confirmed, .likely, .negative]
  /// Whether a code is issued only with the date of symptoms or test.
  public var requiresDate = false
  /// Whether people may report a test of their own.
  public var allowsUserReport = false
  /// Whether several codes may be issued at once.
  public var allowsBatchIssue = true
  /// Whether an SMS may be written here and sent by whoever asks.
  public var allowsGeneratedSMS = false
  /// Whether the server is being worked on: all of Google's contract answers `maintenance_mode`.
  public var isInMaintenance = false

  /// Eight digits for a quarter of an hour, sixteen characters for a day, unless set otherwise.
  public init() {}

  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validate() throws {
    let checks: [(Bool, String)] = [
      (ShortCode.digitCounts.contains(shortCodeDigits), "shortCodeDigits: must be 6 to 10."),
      (
        VerificationLimit.shortCodeLifetimeSeconds.contains(shortCodeLifetime),
        "shortCodeLifetime: must be a minute to an hour."
      ),
      (
        LongCode.characterCounts.contains(longCodeCharacters),
        "longCodeCharacters: must be 12 to 16."
      ),
      (
        VerificationLimit.longCodeLifetimeSeconds.contains(longCodeLifetime)
          && longCodeLifetime >= shortCodeLifetime,
        "longCodeLifetime: must be a minute to a day, and not shorter than shortCodeLifetime."
      ),
      (
        VerificationLimit.tokenLifetimeSeconds.contains(verificationTokenLifetime)
          && verificationTokenLifetime >= longCodeLifetime,
        "verificationTokenLifetime: must be at most a day, and not shorter than longCodeLifetime."
      ),
      (
        VerificationLimit.certificateLifetimeSeconds.contains(certificateLifetime),
        "certificateLifetime: must be a minute to an hour."
      ),
    ]
    for (holds, sentence) in checks where !holds {
      throw VerificationServerError.badConfiguration("policy.\(sentence)")
    }
  }
}

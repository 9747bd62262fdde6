import Foundation
import VerificationAPI

/// The rules for codes of Google's contract, which Google's server calls the settings of a realm.
public struct CodePolicy: Sendable {
  /// The length of a short code, 6 to 11 digits. Codes are longer while very many are valid.
  public var shortCodeDigits = 8
  /// The lifetime of a short code in seconds.
  public var shortCodeLifetime: TimeInterval = 900
  /// The length of a long code, 12 to 16 characters.
  public var longCodeCharacters = 16
  /// The lifetime of a long code in seconds.
  public var longCodeLifetime: TimeInterval = 86_400
  /// The lifetime of a verification token in seconds.
  public var verificationTokenLifetime: TimeInterval = 86_400
  /// The lifetime of a certificate in seconds.
  public var certificateLifetime: TimeInterval = 900
  /// The test types for which codes are issued.
  public var testTypes: Set<TestType> = [.confirmed, .likely, .negative]
  /// If true, codes are issued only with the date of symptoms or test.
  public var requiresDate = false
  /// If true, users may report a test of their own.
  public var allowsUserReport = false
  /// If true, several codes may be issued in one request.
  public var allowsBatchIssue = true
  /// If true, the server may return the text of an SMS that the caller sends.
  public var allowsGeneratedSMS = false
  /// If true, each route of Google's contract responds with `maintenance_mode`.
  public var isInMaintenance = false

  /// The defaults: eight digits for 15 minutes, sixteen characters for a day.
  public init() {}

  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validate() throws {
    let checks: [(Bool, String)] = [
      (ShortCode.digitCounts.contains(shortCodeDigits), "shortCodeDigits: must be 6 to 11."),
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
    for (holds, message) in checks where !holds {
      throw VerificationServerError.badConfiguration("policy.\(message)")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The limits of the verification server; larger requests and settings are rejected.
public enum VerificationLimit {
  /// The largest number of connections of a process to its PostgreSQL database.
  static let databaseConnections = 4
  /// The largest request body of the ProteGO Safe contract, in bytes.
  public static let bodyBytesMax = 8 * 1024
  /// The largest request body of Google's contract, in bytes.
  public static let googleBodyBytesMax = 64_000
  /// The time within which a body must arrive, in seconds.
  public static let bodySecondsMax = 20
  /// The largest age of a symptom date, in days.
  public static let symptomAgeDaysMax = 28
  /// The size of the HMAC over the keys, to which a token is bound, in bytes.
  public static let keyHMACBytes = 32
  /// The allowed lengths of an API token.
  public static let apiTokenCharacters = 16...256
  /// The largest number of API tokens.
  public static let apiTokensMax = 32
  /// The size of the secret from which `CodeKeys` are derived, in bytes.
  public static let codeHashKeyBytes = 32
  /// The allowed lifetimes of a PIN, in seconds: a minute to a day.
  public static let codeLifetimeSeconds: ClosedRange<TimeInterval> = 60...86_400
  /// The allowed lifetimes of a token, in seconds.
  public static let tokenLifetimeSeconds: ClosedRange<TimeInterval> = 60...86_400
  /// The lifetime of a permit for the following days, in seconds: ten days of isolation, and two days for the keys of
  /// the last of them.
  public static let followUpSeconds: TimeInterval = 12 * 86_400
  /// The largest number of draws until a code differs from every live code. With a million live codes one draw in two
  /// thousand collides, so the last draw is never reached.
  public static let drawsMax = 20
  /// The number of expired codes removed in one transaction, so that other writers do not wait long.
  public static let removedAtOnceMax = 500
  /// The period of the removal of expired codes, in seconds.
  public static let cleanupPeriodSeconds: TimeInterval = 300
  /// The time for which the status of an expired code can be requested, in seconds.
  public static let expiredCodeKeptSeconds: TimeInterval = 86_400
  /// The allowed attempts per window, and codes issued per day.
  public static let attempts = 1...1_000_000
  /// The codes that a key of kind `canary` may issue in a day: one every fifteen minutes.
  public static let canaryCodesPerDay = 96
  /// The allowed lengths of the window of attempts, in seconds.
  public static let attemptWindowSeconds = 1...86_400
  /// The age at which the signing keys and the API tokens are read again, in seconds.
  public static let signingKeysAgeSecondsMax: TimeInterval = 5
  /// The time that a call of a key on a token may take, in seconds. Until the call has ended, no other one begins.
  package static let signerSeconds: TimeInterval = 20
  /// The time for which a request waits for a signature on a token, with those before it, in seconds.
  package static let signatureSecondsMax: TimeInterval = 5
  /// The signatures that a key on a token makes in the window for one code: with one a client could keep it busy.
  static let signaturesOfID = 10
  /// The window of `signaturesOfID`, in seconds.
  static let signatureWindowSeconds = 3_600
  /// The interval at which a key on a token is checked, in seconds.
  static let signerCheckSeconds: TimeInterval = 60
  /// The number of codes in one request to `/generateCodesBatch`.
  public static let batchCodes = 1...1_000
  /// The largest number of codes in one request to `/api/batch-issue`.
  public static let batchIssueCodesMax = 10
  /// The allowed time zone offsets, in minutes ahead of UTC.
  public static let timeZoneMinutes = -840.0...840.0
  /// The largest expected number of guesses that hit a live code in the lifetime of a code. If it would be
  /// exceeded, new codes are a character longer.
  public static let guessedCodesMax = 0.001
  /// The age at which the number of live codes is read again for the weight of a guess, in seconds.
  static let liveCountAgeSecondsMax: TimeInterval = 1
  /// The allowed lifetimes of a short code, in seconds: up to an hour.
  public static let shortCodeLifetimeSeconds: ClosedRange<TimeInterval> = 60...3_600
  /// The allowed lifetimes of a long code, in seconds: up to a day.
  public static let longCodeLifetimeSeconds: ClosedRange<TimeInterval> = 60...86_400
  /// The allowed lifetimes of a certificate, in seconds.
  public static let certificateLifetimeSeconds: ClosedRange<TimeInterval> = 60...3_600
  /// The time before its issue at which a certificate becomes valid, in seconds, because clocks differ.
  public static let certificateSkewSeconds: TimeInterval = 5
  /// The largest number of fields of the form on the page for reports.
  static let reportFieldsMax = 8
  /// The size of the nonce of a user report, in bytes.
  public static let nonceBytes = 256
  /// The wait of a phone between two user reports if it used the first code, in seconds.
  public static let reportAgainSeconds: TimeInterval = 30 * 86_400
  /// The wait of a phone between two user reports if it did not use the first code, in seconds.
  public static let reportUnclaimedSeconds: TimeInterval = 3_600
  /// The days for which the numbers of codes are kept.
  public static let countedDays: Int64 = 90
  /// Numbers of codes by issuer are rounded down to a multiple of this, so that none shows a single code.
  static let issuerCountMultiple = 10
  /// The largest number of external issuers, and of officials, that are counted in a day. The codes of others are
  /// counted by API key only.
  static let countedNamesMax = 1_000
  /// The least number of issued codes of a day in the metrics.
  static let shownCodesMin = 10
  /// The time from the end of a day until its codes are in the metrics, in seconds.
  static let shownCodesDelaySeconds: Int64 = 48 * 3_600
  /// The longest `externalIssuerID`, in characters.
  public static let externalIssuerCharactersMax = 255
  /// The allowed lengths of the name of an API key.
  public static let apiKeyNameCharacters = 1...100
  /// The largest number of SMS templates.
  public static let smsTemplatesMax = 50
  /// The allowed lengths of the label of a template.
  public static let smsLabelCharacters = 1...100
  /// The longest domain of links, in bytes.
  public static let smsDomainBytesMax = 200
  /// The largest number of files in the folder of `SMSSpool`.
  public static let smsSpooledMax = 10_000
  /// The longest SMS template, in characters.
  public static let smsTemplateCharactersMax = 800
  /// The longest SMS after the variables are replaced, in characters.
  public static let smsCharactersMax = 918
  /// The allowed numbers of digits of a phone number.
  public static let phoneDigits = 8...15
  /// The timeout of the SMS gateway, in seconds.
  public static let smsSecondsMax: Int64 = 10
  /// The largest response of the SMS gateway that is read, in bytes.
  public static let smsResponseBytesMax = 64 << 10
}

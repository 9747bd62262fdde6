// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PostgreSQL
import QuietHTTP
import Secrets
import UploadToken
import VerificationAPI
import World

/// The configuration of a verification server, with all its secrets.
public struct VerificationServerConfiguration: Sendable, Redacted {
  /// The address to listen on.
  public var host: String
  /// The port to listen on; 0 takes a free one.
  public var port: Int
  /// The SQLite file; its folder must exist.
  public var databaseFile: URL
  /// The address of a PostgreSQL database, which several servers may share; nil for the SQLite database.
  package var databaseAddress: PostgreSQLAddress?
  /// The tokens with which the health authority's systems may issue codes.
  public var apiTokens: [String]
  /// Reads `apiTokens` again, so that they can change while the server runs; `nil` if they do not. If it throws, the
  /// server keeps its current tokens.
  public var readAPITokens: (@Sendable () throws -> [String])?
  /// The version of the file that `readAPITokens` and `readSigningKeys` read: they are called at the first use after it
  /// has changed. If it is `nil`, they are called every few seconds.
  package var secretsVersion: (@Sendable () -> FileVersion?)?
  /// The 32-byte secret from which the keys of code hashes and sealed tokens are derived.
  public var codeHashKey: [UInt8]
  /// The lifetime of a code in seconds.
  public var codeLifetime: TimeInterval
  /// The lifetime of a token in seconds; not shorter than `codeLifetime`, so that a token that is requested
  /// again is still valid.
  public var tokenLifetime: TimeInterval
  /// The issuer, the audience and the keys of tokens.
  public var signing: UploadTokenIssuer
  /// Reads the signing keys again, so that they can change while the server runs; `nil` to use those of
  /// `signing`. If it throws, the server keeps its current keys.
  public var readSigningKeys: (@Sendable () throws -> SigningKeys)?
  /// The limits of attempts.
  public var attempts: AttemptLimits
  /// The one origin whose browser pages may call, such as `https://app.example`.
  public var allowedOrigin: String?
  /// The rules for codes of Google's contract.
  public var policy = CodePolicy()
  /// Reads the rules for new codes again, so that they can change while the server runs; `nil` if they do not. If it
  /// throws, the server keeps its current rules.
  public var readIssueRules: (@Sendable () throws -> IssueRules)?
  /// The version of the file that `readIssueRules` reads; if it is `nil`, the rules are read every few seconds.
  package var issueRulesVersion: (@Sendable () -> FileVersion?)?
  /// Returns false while changes that other processes with the same database have made may be unknown: then nothing is
  /// served. `nil` without such processes.
  package var isCurrent: (@Sendable () -> Bool)?
  /// The sending of codes by SMS; `nil` for none.
  public var sms: SMSConfiguration?
  /// The proxies whose `X-Forwarded-For` is trusted. For other connections the peer's address counts.
  public var trustedProxies = TrustedProxies.none
  /// The networks of apps: for `getAccessToken` of the ProteGO Safe contract and Google's device API.
  public var applicationNetmasks = Netmasks.anyAddress
  /// The networks of the health authority's systems: for `generateCode` and `generateCodesBatch` of the ProteGO
  /// Safe contract, and Google's admin API.
  public var operatorNetmasks = Netmasks.anyAddress

  /// The routes of other verification servers, for which this one listens.
  package var hosted: [HostedRoutes] = []

  /// A configuration with the lifetimes of the ProteGO Safe contract, half an hour, by default.
  public init(
    host: String = "127.0.0.1", port: Int = 0, databaseFile: URL, apiTokens: [String],
    codeHashKey: [UInt8], codeLifetime: TimeInterval = 1800, tokenLifetime: TimeInterval = 1800,
    signing: UploadTokenIssuer, attempts: AttemptLimits = AttemptLimits(),
    allowedOrigin: String? = nil
  ) {
    self.host = host
    self.port = port
    self.databaseFile = databaseFile
    self.apiTokens = apiTokens
    self.codeHashKey = codeHashKey
    self.codeLifetime = codeLifetime
    self.tokenLifetime = tokenLifetime
    self.signing = signing
    self.attempts = attempts
    self.allowedOrigin = allowedOrigin
  }

  /// Validates the configuration.
  ///
  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  package func check() throws { _ = try validatedKeys() }

  /// Validates the configuration and derives the keys of `codeHashKey`.
  ///
  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validatedKeys() throws -> CodeKeys {
    guard let keys = CodeKeys(codeHashKey: codeHashKey) else {
      throw VerificationServerError.badConfiguration(
        "codeHashKey: must have \(VerificationLimit.codeHashKeyBytes) bytes.")
    }
    guard VerificationLimit.codeLifetimeSeconds.contains(codeLifetime) else {
      throw VerificationServerError.badConfiguration("codeLifetime: must be a minute to a day.")
    }
    guard VerificationLimit.tokenLifetimeSeconds.contains(tokenLifetime),
      tokenLifetime >= codeLifetime
    else {
      throw VerificationServerError.badConfiguration(
        "tokenLifetime: must be a minute to a day, and not shorter than codeLifetime.")
    }
    try attempts.validate()
    guard signing.issuer != signing.audience else {
      throw VerificationServerError.badConfiguration(
        "signing: issuer and audience must differ, because the issuer is the audience of verification tokens."
      )
    }
    try policy.validate()
    try sms?.validate()
    return keys
  }
}

extension VerificationServerConfiguration {
  public var description: String { "VerificationServerConfiguration(\(host):\(port))" }
}

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
  /// If true, users may do so on a page of the server, too.
  public var offersReportPage = false
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
      (allowsUserReport || !offersReportPage, "offersReportPage: needs allowsUserReport."),
    ]
    for (holds, message) in checks where !holds {
      throw VerificationServerError.badConfiguration("policy.\(message)")
    }
  }
}

extension VerificationServerConfiguration {
  /// Opens the database. That in PostgreSQL is reached by the first request.
  func storage(_ keys: CodeKeys, logger: Logger) throws -> any CodeStorage {
    if let databaseAddress {
      return PostgreSQLCodeStorage(databaseAddress, keys: keys, logger: logger)
    }
    return try SQLiteCodeStorage(file: databaseFile, keys: keys)
  }
}

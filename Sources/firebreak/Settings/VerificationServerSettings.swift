import Crypto
import Foundation
import Logging
import QuietHTTP
import Terminal
import UploadToken
import VerificationAPI
import VerificationServer

/// The settings of the verification server: `verification/settings.json`, the options of the command line, and
/// the defaults.
struct VerificationServerSettings {
  /// The configuration, complete except for the secrets and the folder of the server: its secrets are placeholders.
  var configuration: VerificationServerConfiguration
  var issuer = ServerNames.issuer
  var audience = ServerNames.audience
  var logLevel = Logger.Level.error
  /// All settings that are in force, as JSON that may be used as `settings.json`.
  private(set) var inForce = JSONTree.object([:])

  init() throws {
    configuration = VerificationServerConfiguration(
      databaseFile: URL(fileURLWithPath: "/dev/null"), apiTokens: [],
      codeHashKey: [UInt8](repeating: 0, count: VerificationLimit.codeHashKeyBytes),
      signing: try UploadTokenIssuer(
        keyID: "t1", privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, issuer: issuer,
        audience: audience))
  }

  /// Reads `file`. Options of the command line replace its values.
  ///
  /// - Parameter readsFiles: If false, the files of SMS secrets are not read, and `configuration.sms` is `nil`.
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  init(_ file: SettingsFile, options: ServerOptions, readsFiles: Bool = true) throws {
    try self.init()
    inForce = try file.resolve(
      Self.table, into: &self, readsFiles: readsFiles,
      options: [
        "issuer": options.issuer.map(JSONTree.text),
        "audience": options.audience.map(JSONTree.text),
      ])
    configuration.signing = UploadTokenIssuer(
      keys: configuration.signing.keys, issuer: issuer, audience: audience)
    guard inForce["sms"] != nil || !configuration.policy.allowsUserReport else {
      try file.naming {
        throw CommandFailure.badInput(
          "policy.allowsUserReport: codes of user reports are sent by SMS, so set sms too.")
      }
      return
    }
  }

  /// The source of the table in Documentation/Serving.md.
  static var table: SettingsTable<Self> {
    SettingsTable(rows: [
      .name("issuer", \.issuer, "`iss` of tokens and certificates; must differ from `audience`"),
      .name("audience", \.audience, "`aud` of tokens: the key server"),
      .seconds(
        "codeLifetime", \.configuration.codeLifetime, VerificationLimit.codeLifetimeSeconds,
        "the lifetime of a ProteGO Safe PIN"),
      .seconds(
        "tokenLifetime", \.configuration.tokenLifetime, VerificationLimit.tokenLifetimeSeconds,
        "the lifetime of an upload token; not shorter than `codeLifetime`"),
      .object("attempts", \.configuration.attempts, defaults: AttemptLimits(), attempts),
      .object("policy", \.configuration.policy, defaults: CodePolicy(), policy),
      SMSSettings.setting,
      .origin(\.configuration.allowedOrigin),
      .proxies(\.configuration.trustedProxies),
      .logLevel(\.logLevel),
      .netmasks(
        "applicationNetmasks", \.configuration.applicationNetmasks,
        "the addresses that may call `getAccessToken` and the device API"),
      .netmasks(
        "operatorNetmasks", \.configuration.operatorNetmasks,
        "the addresses that may call `generateCode`, `generateCodesBatch` and the admin API"),
    ])
  }

  private static var attempts: SettingsTable<AttemptLimits> {
    let limits = VerificationLimit.attempts
    return SettingsTable(rows: [
      .integer("perAddress", \.perAddress, limits, "failed attempts of one address in the window"),
      .integer(
        "perSubnet", \.perSubnet, limits,
        "failed attempts of one IPv6 network of 56 bits in the window"),
      .integer(
        "perNetwork", \.perNetwork, limits,
        "failed attempts of one IPv6 network of 48 bits in the window"),
      .integer("perCode", \.perCode, limits, "failed attempts with the same code in the window"),
      .integer(
        "total", \.total, limits,
        "failed attempts with codes from everywhere in the window; codes get longer with it"),
      .integer(
        "issuesPerApiKey", \.issuesPerApiKey, limits, "codes that one API key may issue in a day"),
      .integer(
        "windowSeconds", \.windowSeconds, VerificationLimit.attemptWindowSeconds,
        "the window in seconds"),
    ])
  }

  private static var policy: SettingsTable<CodePolicy> {
    SettingsTable(rows: [
      .integer(
        "shortCodeDigits", \.shortCodeDigits, ShortCode.digitCounts,
        "the length of a short code; more while many are live"),
      .seconds(
        "shortCodeLifetime", \.shortCodeLifetime, VerificationLimit.shortCodeLifetimeSeconds,
        "the lifetime of a short code"),
      .integer(
        "longCodeCharacters", \.longCodeCharacters, LongCode.characterCounts,
        "the length of a long code"),
      .seconds(
        "longCodeLifetime", \.longCodeLifetime, VerificationLimit.longCodeLifetimeSeconds,
        "the lifetime of a long code; not shorter than `shortCodeLifetime`"),
      .seconds(
        "verificationTokenLifetime", \.verificationTokenLifetime,
        VerificationLimit.tokenLifetimeSeconds,
        "the lifetime of a verification token; not shorter than `longCodeLifetime`"),
      .seconds(
        "certificateLifetime", \.certificateLifetime, VerificationLimit.certificateLifetimeSeconds,
        "the lifetime of a certificate"),
      testTypes,
      .flag("requiresDate", \.requiresDate, "no code without a date of symptoms or test"),
      .flag(
        "allowsUserReport", \.allowsUserReport,
        "users may report a test of their own; needs `sms`"),
      .flag("allowsBatchIssue", \.allowsBatchIssue, "several codes may be issued in one request"),
      .flag(
        "allowsGeneratedSMS", \.allowsGeneratedSMS,
        "the server may return the text of an SMS that the caller sends"),
      .flag(
        "isInMaintenance", \.isInMaintenance,
        "each route of Google's contract responds with `maintenance_mode`"),
    ])
  }

  private static var testTypes: Setting<CodePolicy> {
    // A user report is not issued by an official.
    let names = TestType.allCases.filter { $0 != .userReport }.map(\.rawValue)
    return Setting(
      name: "testTypes", form: "a list of at least one of \(names.joined(separator: ", "))",
      meaning: "the test types that codes are issued for",
      fallback: { .list($0.testTypes.map { .text($0.rawValue) }.sorted { $0.json < $1.json }) },
      take: { value, policy, _ in
        guard let types = value.texts, !types.isEmpty, types.allSatisfy(names.contains) else {
          return nil
        }
        policy.testTypes = Set(types.compactMap(TestType.init))
        return .list(Set(types).sorted().map(JSONTree.text))
      })
  }
}

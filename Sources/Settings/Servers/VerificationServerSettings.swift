// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Logging
import QuietHTTP
import Secrets
import Terminal
import TextEncodings
import UploadToken
import VerificationAPI
import VerificationServer
import World

/// The settings of the verification server: `verification/settings.json`, the overrides, and the
/// defaults.
package struct VerificationServerSettings {
  /// The configuration, complete except for the secrets and the folder of the server: its secrets are placeholders.
  package var configuration: VerificationServerConfiguration
  package var issuer = ServerNames.issuer
  package var audience = ServerNames.audience
  /// The names of the realms of the folder, which `realm add` has stored.
  package var realms: [String] = []
  package var logLevel = Logger.Level.error
  /// All settings that are in force, as JSON that may be used as `settings.json`.
  package private(set) var inForce = JSONValue.object([:])

  package init() throws {
    configuration = VerificationServerConfiguration(
      databaseFile: URL(fileURLWithPath: "/dev/null"), apiTokens: [],
      codeHashKey: [UInt8](repeating: 0, count: VerificationLimit.codeHashKeyBytes),
      signing: try UploadTokenIssuer(
        keyID: "t1", privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, issuer: issuer,
        audience: audience))
  }

  /// Reads `file`. The overrides replace its values.
  ///
  /// - Parameters:
  ///   - readsFiles: If false, the files of SMS secrets are not read, and `configuration.sms` is `nil`.
  ///   - changes: Values that replace those of the file.
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  package init(
    _ file: SettingsFile, overrides: SettingOverrides = SettingOverrides(),
    readsFiles: Bool = true, changes: [String: JSONValue] = [:]
  ) throws {
    try self.init()
    inForce = try file.resolve(
      Self.table, into: &self, readsFiles: readsFiles, changes: changes,
      options: [
        "issuer": overrides.issuer.map(JSONValue.string),
        "audience": overrides.audience.map(JSONValue.string),
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

  /// The labels of the texts for an SMS, that of the default text first; empty if no SMS is sent. They need no file.
  package var smsLabels: [String] {
    guard let sms = inForce["sms"], case .object(let texts)? = sms["templates"] else { return [] }
    let standard = sms["defaultTemplate"]?.string
    return texts.keys.filter { $0 == standard } + texts.keys.filter { $0 != standard }.sorted()
  }

  /// The host of the links in texts, if this server answers there; nil for none. It needs no file.
  package var smsLinkHost: String? {
    guard let sms = inForce["sms"], sms["links"] != nil, let region = sms["region"]?.string,
      let domain = sms["linkDomain"]?.string
    else { return nil }
    return "\(region).\(domain)".lowercased()
  }

  /// The source of the table in Documentation/Serving.md.
  package static var table: SettingsTable<Self> {
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
      .realms(\.realms),
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
      .flag(
        "offersReportPage", \.offersReportPage,
        "users may report on the page `/report`, too; needs `allowsUserReport`"),
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
      fallback: { .array($0.testTypes.map { .string($0.rawValue) }.sorted { $0.text < $1.text }) },
      take: { value, policy, _ in
        guard let types = value.texts, !types.isEmpty, types.allSatisfy(names.contains) else {
          return nil
        }
        policy.testTypes = Set(types.compactMap(TestType.init))
        return .array(Set(types).sorted().map(JSONValue.string))
      })
  }
}

/// The settings of the sending of codes by SMS: `sms` in `verification/settings.json`.
enum SMSSettings {
  static var setting: Setting<VerificationServerSettings> {
    .optionalObject(
      "sms", "the sending of codes by SMS; without it none are sent", defaults: defaults, table
    ) { configuration, inForce, settings, place in
      guard ["folder", "file", "gateway"].count(where: { inForce[$0] != nil }) == 1 else {
        throw place.failure("must have one of folder, file and gateway, to send the texts")
      }
      settings.configuration.sms = place.readsFiles ? configuration : nil
    }
  }

  private static var defaults: SMSConfiguration {
    SMSConfiguration(sender: SMSFile(file: URL(fileURLWithPath: "/dev/null")), region: "")
  }

  private static var table: SettingsTable<SMSConfiguration> {
    SettingsTable(rows: [
      .name(
        "region", \.region, required: true, "the region in texts and links, such as `PL` or `US-WA`"
      ),
      .text(
        "linkDomain", \.linkDomain,
        "links are `https://<region>.<domain>/v?c=…`; without it `ens://v?…`"),
      .optionalObject(
        "links", "this server answers at the domain of the links", defaults: SMSLinkTargets(), links
      ) { links, _, sms, _ in sms.links = links },
      templates,
      .name(
        "defaultTemplate", \.defaultTemplate,
        "the label of the template for requests that name none"),
      .optionalObject(
        "signing", "signs the texts, so that phones can tell them from forged ones",
        defaults: Signing(), signing
      ) { signing, _, sms, _ in sms.signer = signing.signer },
      .file(
        "folder", required: false, "each text is a new file in this folder, for a gateway to remove"
      ) {
        name, sms, place in
        sms.sender = SMSSpool(folder: try place.writableFolder(place.file(name)))
      },
      .file("file", required: false, "texts are appended to this file, one JSON object a line") {
        name, sms, place in
        let file = place.file(name)
        _ = try place.writableFolder(file.deletingLastPathComponent())
        try requireTexts(file)
        sms.sender = SMSFile(file: file)
      },
      .optionalObject(
        "gateway", "texts are sent through Twilio's Messages resource", defaults: Gateway(), gateway
      ) { gateway, _, sms, _ in
        sms.sender = SMSGateway(
          baseURL: gateway.baseURL, account: gateway.account, token: gateway.token,
          from: gateway.from)
      },
    ])
  }

  private static var links: SettingsTable<SMSLinkTargets> {
    SettingsTable(rows: [
      .names(
        "appleApps", \.appleApps,
        "the apps of Apple's systems that open the links: team id, dot, bundle id"),
      .texts(
        "androidApps", \.androidApps,
        "the SHA-256 of the certificate of each Android app that opens the links, by package name"),
      .optionalAddress(
        "appPage", \.appPage,
        "the page for phones without the app; the code is in its fragment, `#c=…`"),
    ])
  }

  private static var templates: Setting<SMSConfiguration> {
    Setting(
      name: "templates", form: "an object of texts",
      meaning:
        "the texts by label, at most \(VerificationLimit.smsTemplatesMax); each contains `[code]`,"
        + " `[longcode]` or `[enslink]`",
      fallback: { .object($0.templates.mapValues(JSONValue.string)) },
      take: { value, sms, _ in
        guard case .object(let fields) = value else { return nil }
        let templates = fields.compactMapValues(\.string)
        guard templates.count == fields.count else { return nil }
        sms.templates = templates
        return value
      })
  }

  private struct Signing {
    var keyID = ""
    var signer: SMSSigner?
  }

  private static var signing: SettingsTable<Signing> {
    SettingsTable(rows: [
      .name("keyID", \.keyID, required: true, "the id by which phones know the key"),
      .file("keyFile", "the P-256 private key in PEM") { name, signing, place in
        let keyID = signing.keyID
        signing.signer = try SMSSigner(keyID: keyID, privateKeyPEM: place.privateKey(name))
      },
    ])
  }

  private struct Gateway: Redacted {
    var baseURL = URL(fileURLWithPath: "/")
    var account = ""
    var token = ""
    var from = ""
  }

  private static var gateway: SettingsTable<Gateway> {
    SettingsTable(rows: [
      .address("baseURL", \.baseURL, required: true, "the address of the gateway"),
      .name("account", \.account, required: true, "the account"),
      .file("tokenFile", "the secret token of the account") { name, gateway, place in
        gateway.token = try place.secret(name)
      },
      .name("from", \.from, required: true, "the number or name that texts come from"),
    ])
  }

  /// Rejects a file with other content than texts, and a file that other users can read.
  private static func requireTexts(_ file: URL) throws {
    guard let facts = FileManager.default.attributes(of: file) else { return }
    let permissions = (facts[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
    let start = Data(#"{"phone":"#.utf8)
    guard facts[.type] as? FileAttributeType == .typeRegular, permissions & 0o077 == 0,
      let handle = FileHandle(forReadingAtPath: file.path),
      let beginning = handle.bytes(upTo: start.count),
      beginning.isEmpty || beginning == start
    else {
      throw CommandFailure.badInput(
        "sms.file: \(file.path.printable) contains something other than texts, or others can read it: name"
          + " another file, or chmod 600 it.")
    }
  }
}

extension SettingContext {
  /// Throws if the folder is missing or not writable, so that the error comes before the first text.
  fileprivate func writableFolder(_ folder: URL) throws -> URL {
    guard FileManager.default.isFolder(at: folder.path), access(folder.path, W_OK) == 0 else {
      throw CommandFailure.badInput(
        "\(path): \(folder.path.printable) is not a writable folder: create it.")
    }
    return folder
  }
}

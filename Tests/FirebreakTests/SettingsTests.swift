import ArgumentParser
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import VerificationServer

@testable import firebreak

/// Documentation/Serving.md 9, 11 and 12.
@Suite("Files of settings")
struct SettingsTests {
  private static let keys = """
    {"region": "CZ", "regions": ["CZ", "PL"], "appPackages": ["a", "b"], "platforms": ["android", "web"],
     "tokenIssuer": "them", "tokenAudience": "us", "keyID": "230", "exportPeriodSeconds": 3600,
     "minimumKeys": 7, "paddingRange": 3, "maximumKeysPerFile": 100,
     "furtherExports": [{"filenameRoot": "eu", "region": "CZ", "inputRegions": ["CZ", "PL"],
       "excludedRegions": ["DE"], "travellers": "fromAnywhere", "periodSeconds": 7200, "minimumKeys": 8,
       "paddingRange": 4, "maximumKeysPerFile": 90}],
     "deviceVerificationPlatforms": ["android"],
     "publish": {"defaultRegion": "PL", "allowsPartialRevisions": true,
       "revisionContext": "sixteen bytes or more"},
     "statistics": {"uploadsMin": 20, "delaySeconds": 7200},
     "remoteConfiguration": {"version": 4, "riskLevelConfiguration": {"maxLowRiskScore": 1500}},
     "uploadAttempts": 5, "uploadWindowSeconds": 60, "allowedOrigin": "https://app.example",
     "trustedProxies": ["10.0.0.0/8"]}
    """
  private static let verification = """
    {"issuer": "them", "audience": "us", "codeLifetime": 600, "tokenLifetime": 900,
     "attempts": {"perAddress": 1, "perCode": 2, "perApiKey": 3, "issuesPerApiKey": 4, "windowSeconds": 5},
     "policy": {"shortCodeDigits": 6, "shortCodeLifetime": 300, "longCodeCharacters": 12,
       "longCodeLifetime": 3600, "verificationTokenLifetime": 7200, "certificateLifetime": 60,
       "testTypes": ["confirmed"], "requiresDate": true, "allowsUserReport": true,
       "allowsBatchIssue": false, "allowsGeneratedSMS": true, "isInMaintenance": true},
     "sms": {"region": "PL", "file": "sms.jsonl", "templates": {"a": "[code]"}, "defaultTemplate": "a"},
     "allowedOrigin": "https://app.example", "trustedProxies": ["10.0.0.0/8", "::1"],
     "applicationNetmasks": ["0.0.0.0/0"], "operatorNetmasks": ["192.0.2.0/24", "2001:db8::/32"]}
    """

  private func options(_ arguments: String...) throws -> ServerOptions {
    try ServerOptions.parse(arguments)
  }

  /// The settings in `text`, as a command reads them from a file.
  private func read<Settings: Decodable>(_ text: String, _ type: Settings.Type) throws -> Settings?
  {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try Data(text.utf8).write(to: file)
    return try SettingsFile(url: file).read(type)
  }

  @Test("Every setting of the key server reaches it")
  func keyServer() throws {
    let settings = try #require(try read(Self.keys, KeyServerSettings.self))
      .effective(with: try options())
    let folder = URL(fileURLWithPath: "/dev")
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: folder, exportFolder: folder, regions: [], appPackages: [],
      tokenIssuer: "", tokenAudience: "", tokenPublicKeysPEM: [:], exportSigners: [], region: "CZ",
      deviceCheck: nil, remoteConfiguration: .init(version: 0))
    try settings.apply(to: &configuration, folder: folder)
    #expect(settings.regions == ["CZ", "PL"] && settings.appPackages == ["a", "b"])
    #expect((settings.tokenIssuer, settings.tokenAudience, settings.keyID) == ("them", "us", "230"))
    #expect(configuration.platforms == ["android", "web"])
    #expect(configuration.exportPeriodSeconds == 3_600)
    #expect((configuration.minimumKeys, configuration.paddingRange) == (7, 3))
    #expect(configuration.maximumKeysPerFile == 100)
    let export = try #require(configuration.furtherExports.first)
    #expect((export.filenameRoot, export.region) == ("eu", "CZ"))
    #expect(export.inputRegions == ["CZ", "PL"] && export.excludedRegions == ["DE"])
    #expect(export.travellers == .fromAnywhere && export.periodSeconds == 7_200)
    #expect((export.minimumKeys, export.paddingRange, export.maximumKeysPerFile) == (8, 4, 90))
    #expect(configuration.deviceVerificationPlatforms == ["android"])
    #expect(configuration.publish.defaultRegion == "PL")
    #expect(configuration.publish.allowsPartialRevisions)
    #expect(configuration.statistics.uploadsMin == 20)
    #expect(configuration.statistics.delaySeconds == 7_200)
    #expect(configuration.publish.revisionContext == Data("sixteen bytes or more".utf8))
    #expect(configuration.remoteConfiguration.version == 4)
    #expect(configuration.remoteConfiguration.riskLevelConfiguration.maxLowRiskScore == 1_500)
    #expect((configuration.uploadAttempts, configuration.uploadWindowSeconds) == (5, 60))
    #expect(configuration.allowedOrigin == "https://app.example")
  }

  @Test("Every setting of the verification server reaches it")
  func verificationServer() throws {
    let settings = try #require(try read(Self.verification, VerificationServerSettings.self))
      .effective(with: try options())
    var configuration = try VerificationServerSettings.placeholder(
      issuer: settings.issuer, audience: settings.audience)
    let folder = try TemporaryFolder()
    try settings.apply(to: &configuration, folder: folder.url)
    #expect(configuration.signing.issuer == "them" && configuration.signing.audience == "us")
    #expect((configuration.codeLifetime, configuration.tokenLifetime) == (600, 900))
    #expect(
      configuration.attempts
        == AttemptLimits(
          perAddress: 1, perCode: 2, perApiKey: 3, issuesPerApiKey: 4, windowSeconds: 5))
    let policy = configuration.policy
    #expect((policy.shortCodeDigits, policy.shortCodeLifetime) == (6, 300))
    #expect((policy.longCodeCharacters, policy.longCodeLifetime) == (12, 3_600))
    #expect((policy.verificationTokenLifetime, policy.certificateLifetime) == (7_200, 60))
    #expect(policy.testTypes == [.confirmed] && policy.requiresDate && policy.allowsUserReport)
    #expect(!policy.allowsBatchIssue && policy.allowsGeneratedSMS && policy.isInMaintenance)
    #expect(configuration.sms?.templates == ["a": "[code]"])
    #expect(configuration.sms?.defaultTemplate == "a" && configuration.sms?.linkDomain == nil)
    #expect(configuration.allowedOrigin == "https://app.example")
  }

  @Test("What is left out is at the library's default; what the command line names holds")
  func defaults() throws {
    let keys = try #require(try read("{}", KeyServerSettings.self))
    let effective = keys.effective(with: try options("--region", "DE", "--app", "x"))
    #expect(effective.regions == ["DE"] && effective.appPackages == ["x"])
    #expect(effective.furtherExports?.first?.filenameRoot == "DE")
    #expect(effective.furtherExports?.first?.periodSeconds == 14_400)
    #expect(keys.deviceVerificationPlatforms == ["ios"] && keys.deviceCheck == nil)
    let verification = try #require(try read("{}", VerificationServerSettings.self))
    #expect(!verification.policy.allowsUserReport && verification.sms == nil)
    let named = verification.effective(with: try options("--issuer", "a", "--audience", "b"))
    #expect((named.issuer, named.audience) == ("a", "b"))
  }

  @Test("What `settings --json` prints is a file of settings that says the same")
  func roundTrip() throws {
    for (server, name, text) in [
      ("key-server", "keys", Self.keys), ("verification-server", "verification", Self.verification),
      ("key-server", "keys", nil), ("verification-server", "verification", nil),
    ] {
      let folder = try TemporaryFolder()
      let file = folder.path("data/\(name)/settings.json")
      try ServedAuthority.lay(text.map { ["\(name)/settings.json": $0] } ?? [:], in: folder)
      let first = try Run(server, "settings", "--json", "--data", folder.path("data").path)
      #expect(first.status == 0, "\(first.errors)")
      try Data(first.output.utf8).write(to: file)
      let second = try Run(server, "settings", "--json", "--data", folder.path("data").path)
      #expect(second.status == 0 && second.output == first.output, "\(second.errors)")
      let lines = try Run(server, "settings", "--data", folder.path("data").path)
      #expect(lines.status == 0 && lines.output.contains("trustedProxies: "))
      // It makes nothing.
      #expect(folder.files().count == 1)
    }
  }

  @Test(
    "A file that is wrong is refused in one line that names it, the field and what it needs",
    arguments: [
      ("keys", #"{"colour": "red"}"#, "colour is no setting"),
      ("keys", #"{"publish": {"colour": 1}}"#, "publish.colour is no setting"),
      ("keys", #"{"region": "PL", "region": "CZ"}"#, "twice"),
      ("keys", #"{"publish": {"defaultRegion": "PL", "\u0064efaultRegion": "CZ"}}"#, "twice"),
      ("keys", "[]", "no JSON object"), ("keys", "{", "no JSON object"),
      ("keys", "", "no JSON object"),
      ("keys", #"{"minimumKeys": "7"}"#, "minimumKeys needs a whole number"),
      ("keys", #"{"minimumKeys": 7.5}"#, "minimumKeys needs a whole number"),
      ("keys", #"{"minimumKeys": 1e99}"#, "minimumKeys needs a whole number"),
      ("keys", #"{"minimumKeys": null}"#, "minimumKeys needs a whole number"),
      ("keys", #"{"minimumKeys": -1}"#, "minimumKeys and paddingRange must be 0 to"),
      ("keys", #"{"minimumKeys": 500001}"#, "minimumKeys and paddingRange must be 0 to"),
      ("keys", #"{"exportPeriodSeconds": 7201}"#, "exportPeriodSeconds must divide a day"),
      ("keys", #"{"uploadAttempts": 0}"#, "uploadAttempts must be 1 to 1000000"),
      ("keys", #"{"uploadWindowSeconds": 86401}"#, "uploadWindowSeconds 1 to 86400"),
      ("keys", #"{"region": "Poland"}"#, "two upper-case letters"),
      ("keys", #"{"region": ""}"#, "region needs text of 1 to 255"),
      ("keys", #"{"tokenIssuer": "a\nb"}"#, "tokenIssuer needs text"),
      ("keys", #"{"platforms": ["ios", ""]}"#, "platforms needs a list of texts"),
      ("keys", #"{"deviceVerificationPlatforms": ["iOS"]}"#, "must be among platforms"),
      ("keys", #"{"allowedOrigin": "https://app.example/"}"#, "allowedOrigin needs an origin"),
      ("keys", #"{"allowedOrigin": "app.example"}"#, "allowedOrigin needs an origin"),
      ("keys", #"{"trustedProxies": ["10.0.0.0/33"]}"#, "trustedProxies needs a list of addresses"),
      (
        "keys", #"{"trustedProxies": ["10.0.0.0/8", "0.0.0.0/0"]}"#,
        "none wider than /8, for everybody in it could"
      ),
      ("keys", #"{"regions": []}"#, "regions must name a region, or publish.defaultRegion"),
      (
        "keys", #"{"furtherExports": [{"filenameRoot": "a"}]}"#,
        "furtherExports[0].region is missing"
      ),
      (
        "keys", #"{"furtherExports": [{"filenameRoot": "a", "region": "PL", "travellers": "x"}]}"#,
        "furtherExports[0].travellers needs one of likeEverybody"
      ),
      ("keys", #"{"deviceCheck": {"teamID": "T"}}"#, "deviceCheck.keyID is missing"),
      (
        "keys", #"{"publish": {"revisionContext": "short"}}"#,
        "publish.revisionContext must be at least"
      ),
      ("keys", #"{"remoteConfiguration": {"versoin": 2}}"#, "remoteConfiguration.versoin"),
      ("keys", #"{"remoteConfiguration": {}}"#, "remoteConfiguration.version must be 1 or more"),
      (
        "keys", #"{"remoteConfiguration": {"version": 0}}"#,
        "remoteConfiguration.version must be 1 or more"
      ),
      (
        "verification", #"{"sms": {"region": "PL", "file": "settings.json"}}"#,
        "holds something else than texts"
      ),
      (
        "keys", #"{"remoteConfiguration": {"riskLevelConfiguration": {"maxNoRiskScore": "0"}}}"#,
        "remoteConfiguration.riskLevelConfiguration.maxNoRiskScore"
      ),
      (
        "keys", #"{"remoteConfiguration": {"riskLevelConfiguration": {"maxNoRiskScore": 5000}}}"#,
        "maxNoRiskScore must be 0 to 4096"
      ),
      ("verification", #"{"colour": "red"}"#, "colour is no setting"),
      ("verification", #"{"codeLifetime": 59}"#, "codeLifetime: must be a minute to a day"),
      ("verification", #"{"codeLifetime": "600"}"#, "codeLifetime needs a number"),
      (
        "verification", #"{"policy": {"shortCodeDigits": 11}}"#,
        "policy.shortCodeDigits: must be 6 to 10"
      ),
      (
        "verification", #"{"policy": {"requiresDate": 1}}"#,
        "policy.requiresDate needs true or false"
      ),
      (
        "verification", #"{"policy": {"testTypes": []}}"#,
        "policy.testTypes needs a list of confirmed"
      ),
      (
        "verification", #"{"policy": {"testTypes": ["user-report"]}}"#,
        "policy.testTypes needs a list"
      ),
      ("verification", #"{"attempts": {"perCode": 0}}"#, "attempts.perCode: must be 1 to 1000000"),
      (
        "verification", #"{"attempts": {"perCode": 1000001}}"#,
        "attempts.perCode: must be 1 to 1000000"
      ),
      ("verification", #"{"attempts": {"windowSeconds": 0}}"#, "attempts.windowSeconds"),
      ("verification", #"{"issuer": "keys.firebreak.example"}"#, "issuer and audience must differ"),
      ("verification", #"{"sms": {"region": "PL", "colour": 1}}"#, "sms.colour is no setting"),
      (
        "keys", #"{"trustedProxies": ["0.0.0.0/1", "128.0.0.0/1"]}"#,
        "none wider than /8, for everybody in it could"
      ),
      (
        "verification", #"{"trustedProxies": ["::/0"]}"#,
        "none wider than /8, for everybody in it could"
      ),
      (
        "verification", #"{"trustedProxies": "10.0.0.1"}"#,
        "trustedProxies needs a list of addresses"
      ),
      (
        "verification", #"{"operatorNetmasks": []}"#,
        "operatorNetmasks needs a list of 1 to 1000 addresses"
      ),
      (
        "verification", #"{"applicationNetmasks": []}"#,
        "applicationNetmasks needs a list of 1 to 1000 addresses"
      ),
      (
        "verification", #"{"operatorNetmasks": ["192.0.2.0/24", "2001:db8::/129"]}"#,
        "operatorNetmasks needs a list of"
      ),
      (
        "verification", #"{"applicationNetmasks": "192.0.2.0/24"}"#,
        "applicationNetmasks needs a list of"
      ),
      ("verification", #"{"operatorNetmasks": null}"#, "leave it out where everybody may ask"),
      ("keys", #"{"applicationNetmasks": ["192.0.2.0/24"]}"#, "applicationNetmasks is no setting"),
    ])
  func refused(name: String, text: String, words: String) throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.lay(["\(name)/settings.json": text], in: folder)
    let server = name == "keys" ? "key-server" : "verification-server"
    let data = folder.path("data").path
    // The two servers know each other by the names in their settings, so that each starts alone here.
    for command in [[server, "settings"], ["serve", "--only", name, "--port", "0"]] {
      if name == "keys", command[0] == "serve" {
        #expect(try Run("verification-server", "signing-key", "add", "--data", data).status == 0)
      }
      let run = try Run(command + ["--data", data])
      // A server that starts all the same would run for ever.
      try #require(run.status == 2 && run.output.isEmpty, "\(run.errors)")
      #expect(run.errors.contains(words) && run.errors.contains("settings.json"), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    }
  }

  @Test("A file of settings may have 256 KiB and not one byte more", arguments: [-1, 0, 1])
  func size(more: Int) throws {
    let text = "{}" + String(repeating: " ", count: SettingLimit.fileBytesMax + more - 2)
    let said = try? read(text, VerificationServerSettings.self)
    #expect((said != nil) == (more <= 0))
  }

  @Test("A name has 1 to 255 characters", arguments: [0, 1, 254, 255, 256])
  func names(length: Int) throws {
    let name = String(repeating: "a", count: length)
    let said = try? read(#"{"tokenIssuer": "\#(name)"}"#, KeyServerSettings.self)
    #expect((said != nil) == (1...255).contains(length))
  }

  @Test("A secret's file has at most 16 KiB", arguments: [-1, 0, 1])
  func secrets(more: Int) throws {
    let folder = try TemporaryFolder()
    let file = folder.path("secret")
    let text = String(repeating: "s", count: SettingLimit.secretBytesMax + more)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let read = try? SecretFile("secret", in: folder.url, setting: "a").text()
    #expect(read == (more <= 0 ? text : nil))
  }

  @Test("A link that leads nowhere is not taken for settings at their defaults")
  func lostLink() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    #expect(try SettingsFile(url: file).read(KeyServerSettings.self) == nil)
    try FileManager.default.createSymbolicLink(
      at: file, withDestinationURL: folder.path("nowhere.json"))
    #expect(throws: CommandFailure.self) {
      try SettingsFile(url: file).read(KeyServerSettings.self)
    }
  }

  @Test("A file that only some readers can decode is not read", arguments: [#"{"region":"DE"}"#])
  func encodings(text: String) throws {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    for bytes in [text.data(using: .utf16), Data("\u{FEFF}\(text)".utf8)] {
      try #require(bytes).write(to: file)
      #expect(throws: CommandFailure.self) {
        try SettingsFile(url: file).read(KeyServerSettings.self)
      }
    }
  }

  @Test("A pipe in place of a secret's file is refused, and not waited for")
  func pipe() throws {
    let folder = try TemporaryFolder()
    try #require(mkfifo(folder.path("pipe").path, 0o600) == 0)
    #expect(throws: CommandFailure.self) {
      try SecretFile("pipe", in: folder.url, setting: "a").text()
    }
  }

  @Test("A pipe, a device or a folder in place of settings is refused, and not waited for")
  func noPlainFile() throws {
    let folder = try TemporaryFolder()
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe.path, 0o600) == 0)
    let link = folder.path("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pipe)
    let place = folder.path("folder")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    for file in [pipe, link, place, URL(fileURLWithPath: "/dev/zero")] {
      #expect(throws: CommandFailure.self, "\(file.lastPathComponent)") {
        try SettingsFile(url: file).read(KeyServerSettings.self)
      }
    }
    // A command too, which else would wait for ever.
    try FileManager.default.createDirectory(
      at: folder.path("data/keys"), withIntermediateDirectories: true)
    try #require(mkfifo(folder.path("data/keys/settings.json").path, 0o600) == 0)
    let run = try Run("key-server", "settings", "--data", folder.path("data").path)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains("no plain file") && run.errors.contains("settings.json"))
  }

  @Test("No regions are taken beside the one that keys count for without one")
  func noRegions() throws {
    let text = #"{"regions": [], "publish": {"defaultRegion": "CZ"}}"#
    let settings = try #require(try read(text, KeyServerSettings.self))
    #expect(settings.effective(with: try options()).regions == [])
    let folder = try TemporaryFolder()
    try ServedAuthority.lay(["keys/settings.json": text], in: folder)
    #expect(try Run("key-server", "settings", "--data", folder.path("data").path).status == 0)
  }

  @Test("Two servers that do not know each other by the same names do not start")
  func oneName() throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.lay(["verification/settings.json": #"{"issuer": "them"}"#], in: folder)
    let run = try Run("serve", "--port", "0", "--data", folder.path("data").path)
    #expect(run.status == 2 && run.errors.contains("tokenIssuer"))
    #expect(run.errors.split(separator: "\n").count == 1 && run.output.isEmpty)
    // A start that is refused makes no secrets.
    #expect(folder.files().map(\.lastPathComponent) == ["settings.json"])
  }
}

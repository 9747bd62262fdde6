// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import RiskRules
import ServedSystem
import Settings
import Terminal
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import VerificationServer

@Suite("Settings files")
struct SettingsTests {
  private static let keys = """
    {"region": "CZ", "regions": ["CZ", "PL"], "appPackages": ["a", "b"], "platforms": ["android", "web"],
     "tokenIssuer": "them", "tokenAudience": "us", "keyID": "230", "exportPeriodSeconds": 3600,
     "minimumKeys": 7, "paddingRange": 3, "maximumKeysPerFile": 100,
     "furtherExports": [{"filenameRoot": "eu", "region": "CZ", "inputRegions": ["CZ", "PL"],
       "excludedRegions": ["DE"], "travellers": "fromAnywhere", "periodSeconds": 7200, "minimumKeys": 8,
       "paddingRange": 4, "maximumKeysPerFile": 90}],
     "deviceVerificationPlatforms": ["android"], "statistics": {"uploadsMin": 20, "delaySeconds": 7200},
     "publish": {"defaultRegion": "PL", "allowsPartialRevisions": true, "revisionContext": "sixteen bytes or more"},
     "remoteConfiguration": {"version": 4, "riskLevelConfiguration": {"maxLowRiskScore": 1500}},
     "uploadAttempts": 5, "uploadWindowSeconds": 60, "allowedOrigin": "https://app.example",
     "trustedProxies": ["10.0.0.0/8"]}
    """
  private static let verification = """
    {"issuer": "them", "audience": "us", "codeLifetime": 600, "tokenLifetime": 900,
     "attempts": {"perAddress": 1, "perSubnet": 6, "perNetwork": 7, "perCode": 2, "total": 3,
      "issuesPerApiKey": 4, "windowSeconds": 5}, "policy": {"shortCodeDigits": 6,
       "shortCodeLifetime": 300, "longCodeCharacters": 12, "longCodeLifetime": 3600,
       "verificationTokenLifetime": 7200, "certificateLifetime": 60, "testTypes": ["confirmed"],
       "requiresDate": true, "allowsUserReport": true, "allowsBatchIssue": false,
       "allowsGeneratedSMS": true, "isInMaintenance": true},
     "sms": {"region": "PL", "file": "sms.jsonl", "templates": {"a": "[code]"}, "defaultTemplate": "a"},
     "allowedOrigin": "https://app.example", "trustedProxies": ["10.0.0.0/8", "::1"],
     "applicationNetmasks": ["0.0.0.0/0"], "operatorNetmasks": ["192.0.2.0/24", "2001:db8::/32"]}
    """

  /// The settings of a file with `text`, as a command reads them.
  private func keySettings(
    _ text: String, _ overrides: SettingOverrides = SettingOverrides()
  ) throws -> KeyServerSettings {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try Data(text.utf8).write(to: file)
    return try KeyServerSettings(SettingsFile(url: file), overrides: overrides)
  }

  private func verificationSettings(
    _ text: String, _ overrides: SettingOverrides = SettingOverrides()
  ) throws -> VerificationServerSettings {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try Data(text.utf8).write(to: file)
    return try VerificationServerSettings(SettingsFile(url: file), overrides: overrides)
  }

  @Test("Every setting of the key server reaches it")
  func keyServer() throws {
    let settings = try keySettings(Self.keys)
    let configuration = settings.configuration
    #expect(configuration.region == "CZ" && configuration.regions == ["CZ", "PL"])
    #expect(configuration.appPackages == ["a", "b"] && settings.keyID == "230")
    #expect((configuration.tokenIssuer, configuration.tokenAudience) == ("them", "us"))
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
    let configuration = try verificationSettings(Self.verification).configuration
    #expect(configuration.signing.issuer == "them" && configuration.signing.audience == "us")
    #expect((configuration.codeLifetime, configuration.tokenLifetime) == (600, 900))
    let attempts = AttemptLimits(
      perAddress: 1, perSubnet: 6, perNetwork: 7, perCode: 2, total: 3, issuesPerApiKey: 4,
      windowSeconds: 5)
    #expect(configuration.attempts == attempts)
    let policy = configuration.policy
    #expect((policy.shortCodeDigits, policy.shortCodeLifetime) == (6, 300))
    #expect(policy.longCodeCharacters == 12 && policy.longCodeLifetime == 3_600)
    #expect((policy.verificationTokenLifetime, policy.certificateLifetime) == (7_200, 60))
    #expect(policy.testTypes == [.confirmed] && policy.requiresDate && policy.allowsUserReport)
    #expect(!policy.allowsBatchIssue && policy.allowsGeneratedSMS && policy.isInMaintenance)
    #expect(configuration.sms?.templates == ["a": "[code]"])
    #expect(configuration.sms?.defaultTemplate == "a" && configuration.sms?.linkDomain == nil)
    #expect(configuration.allowedOrigin == "https://app.example")
  }

  @Test(
    "Settings that are left out have the server's defaults, and options replace the file's settings"
  )
  func defaults() throws {
    let keys = try keySettings("{}", SettingOverrides(region: "DE", app: "x")).configuration
    #expect(keys.regions == ["DE"] && keys.appPackages == ["x"])
    #expect(keys.furtherExports.first?.filenameRoot == "DE")
    #expect(keys.furtherExports.first?.periodSeconds == 14_400)
    #expect(keys.deviceVerificationPlatforms == ["ios"] && keys.deviceCheck == nil)
    let verification = try verificationSettings("{}").configuration
    #expect(!verification.policy.allowsUserReport && verification.sms == nil)
    let named = try verificationSettings(
      #"{"issuer": "other", "audience": "other"}"#, SettingOverrides(issuer: "a", audience: "b"))
    #expect((named.issuer, named.audience) == ("a", "b"))
    #expect([named.configuration.signing].map { [$0.issuer, $0.audience] } == [["a", "b"]])
  }

  @Test("Where a setting is optional, null is the same as leaving it out")
  func null() throws {
    let keys = try keySettings(
      #"{"regions": null, "allowedOrigin": null, "furtherExports": null, "deviceCheck": null}"#)
    #expect(keys.inForce == (try keySettings("{}")).inForce)
    let verification = try verificationSettings(#"{"sms": null, "allowedOrigin": null}"#)
    #expect(verification.inForce == (try verificationSettings("{}")).inForce)
  }

  @Test("`settings --json` prints a settings file with the same settings", .needs(.process))
  func roundTrip() async throws {
    for (server, name, text) in [
      ("key-server", "keys", Self.keys), ("verification-server", "verification", Self.verification),
      ("key-server", "keys", nil), ("verification-server", "verification", nil),
    ] {
      let folder = try TemporaryFolder()
      let file = folder.path("data/\(name)/settings.json")
      try ServedAuthority.write(text.map { ["\(name)/settings.json": $0] } ?? [:], in: folder)
      let first = try await Run(server, "settings", "--json", "--data", folder.path("data").path)
      #expect(first.status == 0, "\(first.errors)")
      try Data(first.output.utf8).write(to: file)
      let second = try await Run(server, "settings", "--json", "--data", folder.path("data").path)
      #expect(second.status == 0 && second.output == first.output, "\(second.errors)")
      let lines = try await Run(server, "settings", "--data", folder.path("data").path)
      #expect(lines.status == 0 && lines.output.contains("trustedProxies: "))
      // It creates nothing.
      #expect(folder.files().count == 1)
    }
  }

  @Test(
    "An invalid file is refused in one line with the file, field and values", .needs(.process),
    arguments: [
      ("keys", #"{"colour": "red"}"#, "colour is not a setting"),
      ("keys", #"{"publish": {"colour": 1}}"#, "publish.colour is not a setting"),
      ("keys", #"{"region": "PL", "region": "CZ"}"#, "duplicate"),
      ("keys", #"{"publish": {"defaultRegion": "PL", "\u0064efaultRegion": "CZ"}}"#, "duplicate"),
      ("keys", "[]", "must contain a JSON object"), ("keys", "{", "must contain a JSON object"),
      ("keys", "", "must contain a JSON object"),
      ("keys", #"{"minimumKeys": "7"}"#, "minimumKeys must be a whole number"),
      ("keys", #"{"minimumKeys": 7.5}"#, "minimumKeys must be a whole number"),
      ("keys", #"{"minimumKeys": 1e99}"#, "minimumKeys must be a whole number"),
      ("keys", #"{"minimumKeys": null}"#, "minimumKeys must be a whole number"),
      ("keys", #"{"minimumKeys": -1}"#, "minimumKeys must be a whole number, 0 to 500000"),
      ("keys", #"{"minimumKeys": 500001}"#, "minimumKeys must be a whole number, 0 to 500000"),
      ("keys", #"{"exportPeriodSeconds": 7201}"#, "exportPeriodSeconds must divide a day"),
      ("keys", #"{"uploadAttempts": 0}"#, "uploadAttempts must be a whole number, 1 to 1000000"),
      (
        "keys", #"{"uploadWindowSeconds": 86401}"#,
        "uploadWindowSeconds must be a whole number, 1 to 86400"
      ),
      ("keys", #"{"region": "Poland"}"#, "two upper-case letters"),
      ("keys", #"{"region": ""}"#, "region must be text of 1 to 255"),
      ("keys", #"{"tokenIssuer": "a\nb"}"#, "tokenIssuer must be text"),
      ("keys", #"{"platforms": ["ios", ""]}"#, "platforms must be a list of texts"),
      ("keys", #"{"deviceVerificationPlatforms": ["iOS"]}"#, "must be among platforms"),
      ("keys", #"{"allowedOrigin": "https://app.example/"}"#, "allowedOrigin must be an origin"),
      ("keys", #"{"allowedOrigin": "app.example"}"#, "allowedOrigin must be an origin"),
      (
        "keys", #"{"trustedProxies": ["10.0.0.0/33"]}"#,
        "trustedProxies must be a list of addresses"
      ),
      (
        "keys", #"{"trustedProxies": ["10.0.0.0/8", "0.0.0.0/0"]}"#,
        "none wider than /8"
      ),
      ("keys", #"{"regions": []}"#, "regions must name a region, or publish.defaultRegion"),
      (
        "keys", #"{"furtherExports": [{"filenameRoot": "a"}]}"#,
        "furtherExports[0].region is missing"
      ),
      (
        "keys", #"{"furtherExports": [{"filenameRoot": "a", "region": "PL", "travellers": "x"}]}"#,
        "furtherExports[0].travellers must be one of likeEverybody"
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
        "contains something other than texts"
      ),
      (
        "keys", #"{"remoteConfiguration": {"riskLevelConfiguration": {"maxNoRiskScore": "0"}}}"#,
        "remoteConfiguration.riskLevelConfiguration.maxNoRiskScore"
      ),
      (
        "keys", #"{"remoteConfiguration": {"riskLevelConfiguration": {"maxNoRiskScore": 5000}}}"#,
        "maxNoRiskScore must be 0 to 4096"
      ),
      ("verification", #"{"colour": "red"}"#, "colour is not a setting"),
      ("verification", #"{"codeLifetime": 59}"#, "codeLifetime must be seconds, 60 to 86400"),
      ("verification", #"{"codeLifetime": "600"}"#, "codeLifetime must be seconds"),
      (
        "verification", #"{"policy": {"shortCodeDigits": 12}}"#,
        "policy.shortCodeDigits must be a whole number, 6 to 11"
      ),
      (
        "verification", #"{"policy": {"requiresDate": 1}}"#,
        "policy.requiresDate must be true or false"
      ),
      (
        "verification", #"{"policy": {"testTypes": []}}"#,
        "policy.testTypes must be a list of at least one of confirmed"
      ),
      (
        "verification", #"{"policy": {"testTypes": ["user-report"]}}"#,
        "policy.testTypes must be a list"
      ),
      (
        "verification", #"{"attempts": {"perCode": 0}}"#,
        "attempts.perCode must be a whole number, 1 to 1000000"
      ),
      (
        "verification", #"{"attempts": {"perCode": 1000001}}"#,
        "attempts.perCode must be a whole number, 1 to 1000000"
      ),
      ("verification", #"{"attempts": {"windowSeconds": 0}}"#, "attempts.windowSeconds"),
      ("verification", #"{"issuer": "keys.firebreak.example"}"#, "issuer and audience must differ"),
      ("verification", #"{"sms": {"region": "PL", "colour": 1}}"#, "sms.colour is not a setting"),
      (
        "keys", #"{"trustedProxies": ["0.0.0.0/1", "128.0.0.0/1"]}"#,
        "none wider than /8"
      ),
      (
        "verification", #"{"trustedProxies": ["::/0"]}"#,
        "none wider than /8"
      ),
      (
        "verification", #"{"trustedProxies": "10.0.0.1"}"#,
        "trustedProxies must be a list of addresses"
      ),
      (
        "verification", #"{"operatorNetmasks": []}"#,
        "operatorNetmasks must be a list of 1 to 1000 addresses"
      ),
      (
        "verification", #"{"applicationNetmasks": []}"#,
        "applicationNetmasks must be a list of 1 to 1000 addresses"
      ),
      (
        "verification", #"{"operatorNetmasks": ["192.0.2.0/24", "2001:db8::/129"]}"#,
        "operatorNetmasks must be a list of"
      ),
      (
        "verification", #"{"applicationNetmasks": "192.0.2.0/24"}"#,
        "applicationNetmasks must be a list of"
      ),
      ("verification", #"{"operatorNetmasks": null}"#, "leave it out to allow every address"),
      (
        "keys", #"{"applicationNetmasks": ["192.0.2.0/24"]}"#,
        "applicationNetmasks is not a setting"
      ),
    ])
  func refused(name: String, text: String, words: String) async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.write(["\(name)/settings.json": text], in: folder)
    let server = name == "keys" ? "key-server" : "verification-server"
    let data = folder.path("data").path
    // One server at a time: both must have matching names in their settings.
    for command in [[server, "settings"], ["serve", "--only", name, "--port", "0"]] {
      if name == "keys", command[0] == "serve" {
        try await ServedAuthority.prepareWithTokenKeys(folder)
      }
      let run = try await Run(command + ["--data", data])
      // A server that starts would run until the test is killed.
      try #require(run.status == 2 && run.output.isEmpty, "\(run.errors)")
      #expect(run.errors.contains(words) && run.errors.contains("settings.json"), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    }
  }

  @Test("A settings file of 256 KiB is accepted, and one byte more refused", arguments: [-1, 0, 1])
  func size(more: Int) throws {
    let text = "{}" + String(repeating: " ", count: SettingLimit.fileBytesMax + more - 2)
    let settings = try? verificationSettings(text)
    #expect((settings != nil) == (more <= 0))
  }

  @Test("A name has 1 to 255 characters", arguments: [0, 1, 254, 255, 256])
  func names(length: Int) throws {
    let name = String(repeating: "a", count: length)
    let settings = try? keySettings(#"{"tokenIssuer": "\#(name)"}"#)
    #expect((settings != nil) == (1...255).contains(length))
  }

  @Test("The file of a secret has at most 16 KiB", arguments: [-1, 0, 1])
  func secrets(more: Int) throws {
    let folder = try TemporaryFolder()
    let file = folder.path("secret")
    let text = String(repeating: "s", count: PrivateFile.secretBytesMax + more)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let read = try? PrivateFile(file).secret(named: "a")
    #expect(read == (more <= 0 ? text : nil))
  }

  private func settings(of file: URL) throws -> KeyServerSettings {
    try KeyServerSettings(SettingsFile(url: file))
  }

  @Test("A dangling link is refused and does not mean the defaults")
  func danglingLink() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    #expect(try settings(of: file).inForce == (try keySettings("{}")).inForce)
    try FileManager.default.createSymbolicLink(
      at: file, withDestinationURL: folder.path("nowhere.json"))
    #expect(throws: CommandFailure.self) { try settings(of: file) }
  }

  @Test("A file in UTF-16 is refused")
  func encodings() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try #require(#"{"region":"DE"}"#.data(using: .utf16)).write(to: file)
    #expect(throws: CommandFailure.self) { try settings(of: file) }
  }

  @Test("A pipe as the file of a secret is refused without waiting")
  func pipe() throws {
    let folder = try TemporaryFolder()
    try #require(mkfifo(folder.path("pipe").path, 0o600) == 0)
    #expect(throws: CommandFailure.self) {
      try PrivateFile(folder.path("pipe")).secret(named: "a")
    }
  }

  @Test("A settings file that is a pipe, device or folder is refused at once", .needs(.process))
  func irregularFile() async throws {
    let folder = try TemporaryFolder()
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe.path, 0o600) == 0)
    let link = folder.path("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pipe)
    let place = folder.path("folder")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    for file in [pipe, link, place, URL(fileURLWithPath: "/dev/zero")] {
      #expect(throws: CommandFailure.self, "\(file.lastPathComponent)") {
        try settings(of: file)
      }
    }
    // The same for a command.
    try FileManager.default.createDirectory(
      at: folder.path("data/keys"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try #require(mkfifo(folder.path("data/keys/settings.json").path, 0o600) == 0)
    let run = try await Run("key-server", "settings", "--data", folder.path("data").path)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains("not a regular file") && run.errors.contains("settings.json"))
  }

  @Test("An empty list of regions is accepted with a default region", .needs(.process))
  func noRegions() async throws {
    let text = #"{"regions": [], "publish": {"defaultRegion": "CZ"}}"#
    #expect(try keySettings(text).configuration.regions == [])
    let place = try TemporaryFolder()
    try ServedAuthority.write(["keys/settings.json": text], in: place)
    let run = try await Run("key-server", "settings", "--data", place.path("data").path)
    #expect(run.status == 0)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import TestSupport
import Testing
import TextEncodings

@Suite("Defaults of settings")
struct SettingDefaultsTests {
  private static let keys = """
    {"region": "PL", "regions": ["PL"], "appPackages": ["pl.gov.mc.protegosafe"],
     "platforms": ["android", "ios"], "tokenIssuer": "verification.firebreak.example",
     "tokenAudience": "keys.firebreak.example", "keyID": "260", "exportPeriodSeconds": 14400,
     "minimumKeys": 1000, "paddingRange": 100, "maximumKeysPerFile": 500000, "rollUps": true,
     "furtherExports": [{"filenameRoot": "PL", "region": "PL", "inputRegions": ["PL"],
       "excludedRegions": [], "travellers": "likeEverybody", "periodSeconds": 14400,
       "minimumKeys": 1000, "paddingRange": 100, "maximumKeysPerFile": 500000}],
     "deviceVerificationPlatforms": ["ios"],
     "publish": {"allowsPartialRevisions": false,
       "revisionContext": "firebreak key server revision token"},
     "statistics": {"uploadsMin": 10, "delaySeconds": 172800},
     "uploadAttempts": 60, "uploadWindowSeconds": 600, "trustedProxies": [], "canary": false,
     "logLevel": "error"}
    """
  private static let verification = """
    {"issuer": "verification.firebreak.example", "audience": "keys.firebreak.example",
     "codeLifetime": 1800, "tokenLifetime": 1800,
     "attempts": {"perAddress": 30, "perSubnet": 60, "perNetwork": 120, "perCode": 10,
       "total":12000, "issuesPerApiKey": 20000, "windowSeconds": 600},
     "policy": {"shortCodeDigits": 8, "shortCodeLifetime": 900, "longCodeCharacters": 16,
       "longCodeLifetime": 86400, "verificationTokenLifetime": 86400, "certificateLifetime": 900,
       "testTypes": ["confirmed", "likely", "negative"], "requiresDate": false,
       "allowsUserReport": false, "offersReportPage": false, "allowsBatchIssue": true, "allowsGeneratedSMS": false,
       "isInMaintenance": false},
     "trustedProxies": [], "logLevel": "error"}
    """

  private func lines(_ text: String) throws -> [String] {
    try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)).lines()
  }

  /// A settings file with `text`, or one that does not exist.
  private func file(_ text: String?, in folder: TemporaryFolder) throws -> SettingsFile {
    let file = folder.path("settings.json")
    if let text { try Data(text.utf8).write(to: file) }
    return SettingsFile(url: file)
  }

  @Test(
    "The key server has its defaults without a file and with empty objects",
    arguments: [nil, "{}", #"{"publish": {}}"#])
  func keyServer(text: String?) throws {
    let folder = try TemporaryFolder()
    let settings = try KeyServerSettings(
      try file(text, in: folder))
    // The remote configuration has tests of its own.
    #expect(
      settings.inForce.lines().filter { !$0.hasPrefix("remoteConfiguration.") }
        == (try lines(Self.keys)))
  }

  @Test(
    "The verification server has its defaults without a file and with empty objects",
    arguments: [nil, "{}", #"{"policy": {}, "attempts": {}}"#])
  func verificationServer(text: String?) throws {
    let folder = try TemporaryFolder()
    let settings = try VerificationServerSettings(
      try file(text, in: folder))
    #expect(settings.inForce.lines() == (try lines(Self.verification)))
  }

  @Test("The tables in Documentation/Serving.md are those of the code")
  func documentation() throws {
    let page = try String(
      contentsOf: SharedData.projectRoot.appendingPathComponent("Documentation/Serving.md"),
      encoding: .utf8)
    for rows in [
      KeyServerSettings.table.descriptions(defaults: KeyServerSettings()),
      VerificationServerSettings.table.descriptions(defaults: try VerificationServerSettings()),
    ] {
      let head = ["| setting | default | values | meaning |", "|---|---|---|---|"]
      let table = (head + rows.map(\.markdown)).joined(separator: "\n")
      #expect(page.contains("\n\n\(table)\n\n"), "replace the table by:\n\(table)")
    }
  }
}

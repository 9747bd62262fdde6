import ArgumentParser
import Foundation
import Testing

@testable import firebreak

/// Documentation/Serving.md 11 and 12: whoever sets nothing has the numbers of its tables.
@Suite("Settings that nobody set")
struct SettingDefaultsTests {
  private static let keys = """
    {"region": "PL", "regions": ["PL"], "appPackages": ["pl.gov.mc.protegosafe"],
     "platforms": ["android", "ios"], "tokenIssuer": "verification.firebreak.example",
     "tokenAudience": "keys.firebreak.example", "keyID": "260", "exportPeriodSeconds": 14400,
     "minimumKeys": 1000, "paddingRange": 100, "maximumKeysPerFile": 500000,
     "furtherExports": [{"filenameRoot": "PL", "region": "PL", "inputRegions": ["PL"],
       "excludedRegions": [], "travellers": "likeEverybody", "periodSeconds": 14400,
       "minimumKeys": 1000, "paddingRange": 100, "maximumKeysPerFile": 500000}],
     "deviceVerificationPlatforms": ["ios"],
     "publish": {"allowsPartialRevisions": false,
       "revisionContext": "firebreak key server revision token"},
     "statistics": {"uploadsMin": 10, "delaySeconds": 172800},
     "uploadAttempts": 60, "uploadWindowSeconds": 600, "trustedProxies": []}
    """
  private static let verification = """
    {"issuer": "verification.firebreak.example", "audience": "keys.firebreak.example",
     "codeLifetime": 1800, "tokenLifetime": 1800,
     "attempts": {"perAddress": 30, "perCode": 10, "perApiKey": 1000, "issuesPerApiKey": 20000,
       "windowSeconds": 600},
     "policy": {"shortCodeDigits": 8, "shortCodeLifetime": 900, "longCodeCharacters": 16,
       "longCodeLifetime": 86400, "verificationTokenLifetime": 86400, "certificateLifetime": 900,
       "testTypes": ["confirmed", "likely", "negative"], "requiresDate": false,
       "allowsUserReport": false, "allowsBatchIssue": true, "allowsGeneratedSMS": false,
       "isInMaintenance": false},
     "trustedProxies": []}
    """

  private func lines(_ text: String) throws -> [String] {
    try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8)).lines()
  }

  private func options() throws -> ServerOptions { try ServerOptions.parse([]) }

  /// What is left out of a file, and what of an object in it, is as where there is no file.
  @Test("The key server's are those of the table", arguments: ["{}", #"{"publish": {}}"#])
  func keyServer(text: String) throws {
    let read = try JSONDecoder().decode(KeyServerSettings.self, from: Data(text.utf8))
    for settings in [KeyServerSettings(), read] {
      let said = try JSONTree.of(settings.effective(with: options())).lines()
      // What phones are told has a paragraph and tests of its own.
      #expect(said.filter { !$0.hasPrefix("remoteConfiguration.") } == (try lines(Self.keys)))
    }
  }

  @Test(
    "The verification server's are those of the table",
    arguments: ["{}", #"{"policy": {}, "attempts": {}}"#])
  func verificationServer(text: String) throws {
    let read = try JSONDecoder().decode(VerificationServerSettings.self, from: Data(text.utf8))
    for settings in [try VerificationServerSettings(), read] {
      let said = try JSONTree.of(settings.effective(with: options())).lines()
      #expect(said == (try lines(Self.verification)))
    }
  }
}

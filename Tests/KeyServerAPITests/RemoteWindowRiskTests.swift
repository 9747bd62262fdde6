// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import RiskRules
import Testing

@Suite("Window risk rules in a remote configuration")
struct RemoteWindowRiskTests {
  private func json(_ configuration: WindowRiskConfiguration) throws -> [String: Any] {
    let bytes = try JSONEncoder().encode(configuration)
    return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
  }

  @Test("The standard rules are valid and arrive with a remote configuration")
  func roundTrip() throws {
    var rules = WindowRiskConfiguration.standard
    rules.daySummaries.minimumRiskScoreFullRange = 900
    rules.daySummaries.attenuationDurationThresholds = [55, 63, 70]
    let sent = RemoteConfiguration(version: 2, windowRiskConfiguration: rules)
    #expect(sent.fault == nil)
    let arrived = try JSONDecoder().decode(
      RemoteConfiguration.self, from: try JSONEncoder().encode(sent))
    #expect(arrived == sent)
    #expect(RemoteConfiguration.protegoDefault.windowRiskConfiguration == nil)
  }

  @Test(
    "Rules without a part, or with one of another type, are refused by the server",
    arguments: [
      "policy", "infectiousnessForDaysSinceOnsetOfSymptoms", "reportTypeNoneMap", "daySummaries",
    ])
  func strict(part: String) throws {
    for replacement in [nil, "x"] as [Any?] {
      var rules = try json(.standard)
      rules[part] = replacement
      let document = try JSONSerialization.data(
        withJSONObject: ["version": 3, "windowRiskConfiguration": rules])
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(RemoteConfiguration.self, from: document)
      }
    }
  }

  @Test("A phone ignores rules that are malformed or out of bounds and keeps all other values")
  func ignored() throws {
    let key = P256.Signing.PrivateKey()
    let known = try RemoteConfigurationKey(
      keyID: "260", keyVersion: "v1", publicKeyPEM: key.publicKey.pemRepresentation)
    var unknown = try json(.standard)
    unknown["policy"] = "of a later version"
    var tooLarge = try json(.standard)
    tooLarge["reportTypeNoneMap"] = 6
    for rules in [unknown, tooLarge, [:]] {
      let payload = try JSONSerialization.data(
        withJSONObject: [
          "version": 3, "windowRiskConfiguration": rules,
          "riskLevelConfiguration": ["maxLowRiskScore": 7],
        ])
      let signed = Data("Firebreak remote configuration 1\n".utf8) + payload
      let wire = try JSONSerialization.data(withJSONObject: [
        "payload": payload.base64EncodedString(), "keyID": "260", "keyVersion": "v1",
        "signature": try key.signature(for: signed).derRepresentation.base64EncodedString(),
      ])
      let read = try UnverifiedRemoteConfiguration(decoding: wire).verified(by: [known])
      #expect(read.version == 3 && read.riskLevelConfiguration.maxLowRiskScore == 7)
      #expect(read.windowRiskConfiguration == nil)
    }
  }

  @Test("A fault of the rules has their name before it")
  func fault() {
    var rules = WindowRiskConfiguration.standard
    rules.reportTypeNoneMap = 6
    let configuration = RemoteConfiguration(version: 1, windowRiskConfiguration: rules)
    #expect(configuration.fault == "windowRiskConfiguration.reportTypeNoneMap must be 0 to 5.")
  }
}

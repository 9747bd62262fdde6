// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import Testing

@Suite("Window risk configuration")
struct WindowRiskConfigurationTests {
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

  private typealias Fault = (field: String, change: (inout WindowRiskConfiguration) -> Void)

  private static var faults: [Fault] {
    [
      ("policy.trlEncoding", { $0.policy.trlEncoding.infectiousnessOffsetHigh = 101 }),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must have",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms = ["0": 0] }
      ),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must map",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms["15"] = 1 }
      ),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must map",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms["1"] = 3 }
      ),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must map",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms["+3"] = 1 }
      ),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must map",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms["-0"] = 1 }
      ),
      ("reportTypeNoneMap", { $0.reportTypeNoneMap = 6 }),
      (
        "daySummaries.attenuationDurationThresholds",
        { $0.daySummaries.attenuationDurationThresholds = [50, 40, 90] }
      ),
      ("daySummaries.nearDurationWeight", { $0.daySummaries.nearDurationWeight = 251 }),
      (
        "daySummaries.minimumRiskScoreFullRange",
        { $0.daySummaries.minimumRiskScoreFullRange = 32_813 }
      ),
      (
        "daySummaries.daysSinceLastExposureThreshold",
        { $0.daySummaries.daysSinceLastExposureThreshold = 15 }
      ),
    ]
  }

  private static var policyFaults: [Fault] {
    [
      (
        "policy.normalizedTimePerDayToRiskLevelMapping must have an entry",
        { $0.policy.normalizedTimePerDayToRiskLevelMapping = [] }
      ),
      (
        "policy.transmissionRiskValueMapping must have an entry",
        { $0.policy.transmissionRiskValueMapping = [] }
      ),
      (
        "policy.normalizedTimePerDayToRiskLevelMapping must not have overlapping",
        { $0.policy.normalizedTimePerDayToRiskLevelMapping[0].normalizedTimeRange.max = 16 }
      ),
      (
        "policy.normalizedTimePerEWToRiskLevelMapping must not have overlapping",
        {
          $0.policy.normalizedTimePerEWToRiskLevelMapping[0].normalizedTimeRange.maxExclusive =
            false
        }
      ),
    ]
  }

  @Test("A value out of bounds is rejected with the name of its field")
  func faults() {
    for (field, change) in Self.faults + Self.policyFaults {
      var rules = WindowRiskConfiguration.standard
      change(&rules)
      let configuration = RemoteConfiguration(version: 1, windowRiskConfiguration: rules)
      #expect(
        configuration.fault?.hasPrefix("windowRiskConfiguration.\(field)") == true,
        "\(field): \(configuration.fault ?? "no fault")")
    }
  }
}

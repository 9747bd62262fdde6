// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import RiskRules
import Testing

@Suite("Remote configuration")
struct RemoteConfigurationTests {
  private let key = P256.Signing.PrivateKey()

  private func publicKey(version: String = "v1") throws -> RemoteConfigurationKey {
    try RemoteConfigurationKey(
      keyID: "260", keyVersion: version, publicKeyPEM: key.publicKey.pemRepresentation)
  }

  private func signed(_ configuration: RemoteConfiguration) throws -> UnverifiedRemoteConfiguration
  {
    try .signed(
      configuration, privateKeyPEM: key.pemRepresentation, keyID: "260", keyVersion: "v1")
  }

  private func decoded(_ json: String) throws -> RemoteConfiguration {
    try JSONDecoder().decode(RemoteConfiguration.self, from: Data(json.utf8))
  }

  @Test("A signed configuration is verified with all its fields")
  func roundTrip() throws {
    var configuration = RemoteConfiguration(version: 7)
    configuration.exposureConfiguration.minimumRiskScore = 3
    configuration.exposureConfiguration.durationWeight = 11
    configuration.exposureConfiguration.daysSinceLastExposureWeight = 22
    configuration.exposureConfiguration.durationAtAttenuationThresholds = [50, 70]
    configuration.riskLevelConfiguration.maxLowRiskScore = 1_000
    configuration.diagnosisKeyDownloadConfiguration.retryCount = 5
    let wire = try UnverifiedRemoteConfiguration(decoding: signed(configuration).encoded())
    #expect(try wire.verified(by: [publicKey()]) == configuration)
  }

  @Test("The defaults are those of the ProteGO Safe contract")
  func defaults() throws {
    let configuration = try decoded("{}")
    #expect(configuration == .protegoDefault)
    #expect(configuration.fault == nil)
    #expect(configuration.exposureConfiguration.attenuationScores == [2, 5, 6, 7, 8, 8, 8, 8])
    #expect(configuration.exposureConfiguration.durationAtAttenuationThresholds == [48, 58])
    #expect(configuration.riskLevelConfiguration.maxMiddleRiskScore == 2_999)
    #expect(configuration.diagnosisKeyDownloadConfiguration.timeoutMobileSeconds == 120)
  }

  @Test("A key that is missing or of another type gets its default; other keys keep their values")
  func fallback() throws {
    let configuration = try decoded(
      """
      {"version":4,"exposureConfiguration":{"minimumRiskScore":"x","durationWeight":33},
       "riskLevelConfiguration":[],"diagnosisKeyDownloadConfiguration":{"retryCount":null}}
      """)
    #expect(configuration.version == 4)
    #expect(configuration.exposureConfiguration.minimumRiskScore == 1)
    #expect(configuration.exposureConfiguration.durationWeight == 33)
    #expect(configuration.riskLevelConfiguration == .protegoDefault)
    #expect(configuration.diagnosisKeyDownloadConfiguration == .protegoDefault)
  }

  @Test("A changed payload is rejected")
  func tampered() throws {
    let wire = try signed(RemoteConfiguration(version: 1)).encoded()
    var object = try #require(try JSONSerialization.jsonObject(with: wire) as? [String: String])
    let payload = try #require(Data(base64Encoded: object["payload"] ?? ""))
    let text = String(decoding: payload, as: UTF8.self)
      .replacingOccurrences(of: "2999", with: "4095")
    #expect(Data(text.utf8) != payload)
    object["payload"] = Data(text.utf8).base64EncodedString()
    let changed = try UnverifiedRemoteConfiguration(
      decoding: JSONSerialization.data(withJSONObject: object))
    #expect(throws: RemoteConfigurationError.wrongSignature) {
      try changed.verified(by: [publicKey()])
    }
  }

  @Test("A signature over the payload alone, as of a key file, is rejected")
  func domainsAreSeparate() throws {
    let wire = try signed(RemoteConfiguration(version: 1)).encoded()
    var object = try #require(try JSONSerialization.jsonObject(with: wire) as? [String: String])
    let payload = try #require(Data(base64Encoded: object["payload"] ?? ""))
    object["signature"] = try key.signature(for: payload).derRepresentation.base64EncodedString()
    let changed = try UnverifiedRemoteConfiguration(
      decoding: JSONSerialization.data(withJSONObject: object))
    #expect(throws: RemoteConfigurationError.wrongSignature) {
      try changed.verified(by: [publicKey()])
    }
  }

  @Test("A signature by an unknown version or by another key of the same name is rejected")
  func otherKeys() throws {
    let wire = try signed(RemoteConfiguration(version: 1))
    #expect(throws: RemoteConfigurationError.unknownKey) {
      try wire.verified(by: [publicKey(version: "v2")])
    }
    let other = try RemoteConfigurationKey(
      keyID: "260", keyVersion: "v1",
      publicKeyPEM: P256.Signing.PrivateKey().publicKey.pemRepresentation)
    #expect(throws: RemoteConfigurationError.wrongSignature) { try wire.verified(by: [other]) }
    #expect(try wire.verified(by: [other, publicKey()]).version == 1)
  }

  @Test("An older configuration is rejected; the same and a newer one are accepted")
  func rolledBack() throws {
    let wire = try signed(RemoteConfiguration(version: 5))
    #expect(try wire.verified(by: [publicKey()], notBefore: 4).version == 5)
    #expect(try wire.verified(by: [publicKey()], notBefore: 5).version == 5)
    #expect(throws: RemoteConfigurationError.rolledBack) {
      try wire.verified(by: [publicKey()], notBefore: 6)
    }
  }

  @Test("A configuration that is too large or not JSON is malformed", arguments: [-1, 0, 1])
  func tooLong(offset: Int) throws {
    let wire = try signed(RemoteConfiguration(version: 1)).encoded()
    let blanks = UnverifiedRemoteConfiguration.bytesMax + offset - wire.count
    let bytes = wire + Data(repeating: UInt8(ascii: " "), count: blanks)
    if offset > 0 {
      #expect(throws: RemoteConfigurationError.malformed) {
        try UnverifiedRemoteConfiguration(decoding: bytes)
      }
    } else {
      #expect(
        try UnverifiedRemoteConfiguration(decoding: bytes).verified(by: [publicKey()]).version == 1)
    }
    #expect(throws: RemoteConfigurationError.malformed) {
      try UnverifiedRemoteConfiguration(decoding: Data("hello".utf8))
    }
  }

  @Test("A value out of bounds is rejected before signing, with the name of its field")
  func faults() throws {
    let faulty: [(String, (inout RemoteConfiguration) -> Void)] = [
      ("minimumRiskScore", { $0.exposureConfiguration.minimumRiskScore = 256 }),
      ("durationWeight", { $0.exposureConfiguration.durationWeight = 101 }),
      ("attenuationScores", { $0.exposureConfiguration.attenuationScores.removeLast() }),
      ("durationScores", { $0.exposureConfiguration.durationScores[0] = 9 }),
      (
        "durationAtAttenuationThresholds",
        { $0.exposureConfiguration.durationAtAttenuationThresholds = [58, 48] }
      ),
      ("maxMiddleRiskScore", { $0.riskLevelConfiguration.maxMiddleRiskScore = 1_499 }),
      ("retryCount", { $0.diagnosisKeyDownloadConfiguration.retryCount = 11 }),
      ("timeoutWifiSeconds", { $0.diagnosisKeyDownloadConfiguration.timeoutWifiSeconds = 0 }),
      ("version", { $0.version = -1 }),
    ]
    for (field, change) in faulty {
      var configuration = RemoteConfiguration(version: 1)
      change(&configuration)
      #expect(configuration.fault?.hasPrefix(field) == true)
      #expect(throws: RemoteConfigurationError.self) { try signed(configuration) }
    }
  }
}

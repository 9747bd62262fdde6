// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct RegionConfigurationTests {
  private func entry(
    country: String = "PL", state: String? = nil, version: String = "v1", key: String? = nil
  ) -> [String: String] {
    let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
    var fields = [
      "countryCode": country, "regionIdentifier": "260", "publicKeyVersion": version,
      "publicKey": key ?? pem, "appBundleId": "pl.gov.mc.protegosafe",
    ]
    fields["state"] = state
    return fields
  }

  private func json(_ object: Any) throws -> Data {
    try JSONSerialization.data(withJSONObject: object)
  }

  @Test("One entry is read as a region with one key")
  func oneEntry() throws {
    let region = try RegionConfiguration(json: json(entry()))
    #expect(region.region == "PL")
    #expect(region.keys.map(\.keyID) == ["260"])
    #expect(region.keys.map(\.keyVersion) == ["v1"])
  }

  @Test("A list is read as a region with several keys, and a state belongs to the region's code")
  func severalKeys() throws {
    let list = [
      entry(country: "US", state: "CA"), entry(country: "US", state: "CA", version: "v2"),
    ]
    let region = try RegionConfiguration(json: json(list))
    #expect(region.region == "US-CA")
    #expect(region.keys.map(\.keyVersion) == ["v1", "v2"])
  }

  @Test("A key is accepted as base64 of its DER")
  func derKey() throws {
    let der = P256.Signing.PrivateKey().publicKey.derRepresentation.base64EncodedString()
    #expect(try RegionConfiguration(json: json(entry(key: der))).keys.count == 1)
  }

  @Test("Ten keys are accepted, eleven are rejected")
  func keyCount() throws {
    for count in [StoredRegion.keysMax - 1, StoredRegion.keysMax] {
      let list = (1...count).map { entry(version: "v\($0)") }
      #expect(try RegionConfiguration(json: json(list)).keys.count == count)
    }
    let list = (0...StoredRegion.keysMax).map { entry(version: "v\($0)") }
    #expect(throws: RegionConfigurationError.tooLarge) {
      try RegionConfiguration(json: json(list))
    }
  }

  @Test("A file of 64 KiB is accepted, a larger one is rejected")
  func size() throws {
    let content = try json(entry())
    let padding = Data(repeating: 0x20, count: StoredRegion.bytesMax - content.count)
    #expect(try RegionConfiguration(json: content + padding).region == "PL")
    #expect(try RegionConfiguration(json: content + padding.dropLast()).region == "PL")
    #expect(throws: RegionConfigurationError.tooLarge) {
      try RegionConfiguration(json: content + padding + [0x20])
    }
  }

  @Test("Each invalid file is rejected with its own error")
  func refusals() throws {
    #expect(throws: RegionConfigurationError.malformed) {
      try RegionConfiguration(json: Data("{}".utf8))
    }
    #expect(throws: RegionConfigurationError.noRegion) { try RegionConfiguration(json: json([])) }
    #expect(throws: RegionConfigurationError.noRegion) {
      try RegionConfiguration(json: json(entry(country: "Poland")))
    }
    #expect(throws: RegionConfigurationError.severalRegions) {
      try RegionConfiguration(json: json([entry(), entry(country: "DE")]))
    }
    #expect(throws: RegionConfigurationError.notAPublicKey(version: "v7")) {
      try RegionConfiguration(json: json(entry(version: "v7", key: "AAAA")))
    }
    let folder = try TemporaryFolder()
    #expect(throws: RegionConfigurationError.unreadable) {
      try RegionConfiguration(contentsOf: folder.path("absent.json"))
    }
    try json(entry()).write(to: folder.path("region.json"))
    #expect(try RegionConfiguration(contentsOf: folder.path("region.json")).region == "PL")
  }

  @Test("The error of a wrong key has its version")
  func details() {
    let error = RegionConfigurationError.notAPublicKey(version: "v7")
    #expect(error.code == .notAPublicKey && error.keyVersion == "v7")
    #expect(error != .notAPublicKey(version: "v8"))
    #expect(error.description.contains("version v7"))
    #expect("\(error.code)" == "notAPublicKey")
  }
}

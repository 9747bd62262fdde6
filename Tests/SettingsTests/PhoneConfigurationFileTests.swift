// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import PhoneProcess
import Settings
import Terminal
import TestSupport
import Testing

@Suite("The configuration of a phone")
struct PhoneConfigurationFileTests {
  private let place: TemporaryFolder

  init() throws {
    place = try TemporaryFolder()
    try Data(P256.Signing.PrivateKey().publicKey.pemRepresentation.utf8).write(
      to: place.path("root-public-key.pem"))
  }

  /// The settings of a complete configuration with `fields`.
  private func settings(_ fields: [String: Any]) throws -> PhoneSettings {
    let complete: [String: Any] = [
      "verificationServer": "http://127.0.0.1:9", "keyServer": "http://127.0.0.1:9",
      "rootKey": "root-public-key.pem", "regions": ["PL"], "appID": "pl.gov.mc.protegosafe",
    ]
    let file = place.path("phone.json")
    try JSONSerialization.data(withJSONObject: complete.merging(fields) { $1 }).write(to: file)
    return try PhoneConfigurationFile(at: file.path).settings
  }

  @Test("The model in the configuration selects the calibration of the radio")
  func calibration() throws {
    #expect(try settings([:]).calibration == .unknownModel)
    let calibration = try settings([
      "manufacturer": "Google", "model": "Pixel 4", "device": "flame",
    ]).calibration
    #expect(calibration == .of(manufacturer: "Google", model: "Pixel 4", device: "flame"))
    #expect(calibration.confidence == .high)
  }

  @Test("The configuration takes calibration values instead of a model, and not both")
  func calibrationValues() throws {
    #expect(
      try settings(["calibration": ["transmitPower": -50]]).calibration
        == Calibration(transmitPower: -50))
    let values: [String: Any] = [
      "transmitPower": 20, "receiverCorrection": -50, "confidence": "high",
    ]
    #expect(
      try settings(["calibration": values]).calibration
        == Calibration(transmitPower: 20, receiverCorrection: -50, confidence: .high))
    let error = #expect(throws: CommandFailure.self) {
      try settings(["calibration": values, "manufacturer": "Google", "model": "Pixel 4"])
    }
    #expect(error?.message.contains("calibration") == true)
  }

  @Test("The table in Documentation/Phone.md is that of the code")
  func table() throws {
    let page = try String(
      contentsOf: SharedData.projectRoot.appendingPathComponent("Documentation/Phone.md"),
      encoding: .utf8)
    let rows = PhoneConfigurationFile.table.descriptions(defaults: PhoneConfigurationFile())
    #expect(rows.count == 18)
    for row in rows { #expect(page.contains(row.markdown), "\(row.markdown)") }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import Settings
import Terminal
import TestSupport
import Testing

@Suite("Transmission risks in settings")
struct TransmissionRiskSettingsTests {
  private static var table: [String: Any] {
    [
      "withoutDate": 6, "daysSinceTest": ["-1": 5, "0": 8],
      "daysSinceOnsetOfSymptoms": ["0": 8, "1": 0],
    ]
  }

  private func settings(_ table: [String: Any]) throws -> KeyServerSettings {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try JSONSerialization.data(
      withJSONObject: [
        "remoteConfiguration": ["version": 2, "transmissionRiskConfiguration": table]
      ]
    ).write(to: file)
    return try KeyServerSettings(
      SettingsFile(url: file), readsFiles: false)
  }

  @Test("The tables of the settings are those of the configuration that phones download")
  func inForce() throws {
    let configuration = try settings(Self.table).configuration.remoteConfiguration
    #expect(
      configuration.transmissionRiskConfiguration
        == TransmissionRiskConfiguration(
          withoutDate: 6, daysSinceTest: ["-1": 5, "0": 8],
          daysSinceOnsetOfSymptoms: ["0": 8, "1": 0]))
  }

  @Test(
    "A missing, unknown or wrong part is refused with its name",
    arguments: ["withoutDate", "misspelled", "daysSinceTest"])
  func wrong(part: String) throws {
    var table = Self.table
    switch part {
    case "withoutDate": table["withoutDate"] = nil
    case "misspelled": table["misspelled"] = 1
    default: table["daysSinceTest"] = ["15": 8]
    }
    let failure = try #require(throws: CommandFailure.self) { try settings(table) }
    #expect(failure.status == .badInput)
    #expect(failure.message.contains("transmissionRiskConfiguration"), "\(failure.message)")
    #expect(failure.message.contains(part), "\(failure.message)")
  }
}

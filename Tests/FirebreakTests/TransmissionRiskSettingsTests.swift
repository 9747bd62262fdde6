// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import KeyServer
import KeyServerAPI
import Terminal
import TestSupport
import Testing

@testable import firebreak

@Suite("Transmission risks in settings and on the command line")
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
      SettingsFile(url: file), options: try ServerOptions.parse([]), readsFiles: false)
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

  @Test(
    "An upload takes one day in the form of ISO 8601",
    arguments: [
      (["--tested-on", "2026-11-20"], true), (["--symptoms-since", "2026-11-20"], true),
      (["--tested-on", "20.11.2026"], false), (["--symptoms-since", "2026-02-30"], false),
      (["--tested-on", "2026-11-20", "--symptoms-since", "2026-11-19"], false),
    ])
  func day(options: [String], isAccepted: Bool) {
    let arguments = ["A1B2C3", "--data", "bob"] + options
    #expect(((try? PhoneUploadCommand.parse(arguments)) != nil) == isAccepted)
  }
}

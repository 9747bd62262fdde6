// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServer
import KeyServerAPI
import RiskRules
import Settings
import Terminal
import TestSupport
import Testing

@Suite("Rules for exposure windows in settings")
struct WindowRiskSettingsTests {
  /// The settings with the standard rules, changed at the level of JSON.
  private func settings(
    _ change: (inout [String: Any]) -> Void = { _ in }
  ) throws -> KeyServerSettings {
    let encoded = try JSONEncoder().encode(WindowRiskConfiguration.standard)
    var rules = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
    change(&rules)
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try JSONSerialization.data(
      withJSONObject: ["remoteConfiguration": ["version": 2, "windowRiskConfiguration": rules]]
    ).write(to: file)
    return try KeyServerSettings(
      SettingsFile(url: file), readsFiles: false)
  }

  @Test("Complete rules are in force, and the settings that are shown can be used as the file")
  func complete() throws {
    let settings = try settings()
    #expect(settings.configuration.remoteConfiguration.windowRiskConfiguration == .standard)
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try JSONEncoder().encode(settings.inForce).write(to: file)
    let again = try KeyServerSettings(
      SettingsFile(url: file), readsFiles: false)
    #expect(again.configuration.remoteConfiguration == settings.configuration.remoteConfiguration)
  }

  @Test("The minimum score may be the highest score of a window")
  func highestScore() throws {
    let highest = WindowScoring.highestScore
    #expect(DaySummaryParameters.minimumScores.upperBound == highest)
    let settings = try settings { rules in
      var summaries = rules["daySummaries"] as? [String: Any]
      summaries?["minimumRiskScoreFullRange"] = highest
      rules["daySummaries"] = summaries
    }
    let rules = settings.configuration.remoteConfiguration.windowRiskConfiguration
    #expect(rules?.daySummaries.minimumRiskScoreFullRange == highest)
  }

  @Test(
    "A fraction of days is refused with the name of the field")
  func fraction() throws {
    let failure = try #require(throws: CommandFailure.self) {
      try settings { rules in
        var summaries = rules["daySummaries"] as? [String: Any]
        summaries?["daysSinceLastExposureThreshold"] = 1.5
        rules["daySummaries"] = summaries
      }
    }
    #expect(failure.message.contains("daysSinceLastExposureThreshold"), "\(failure.message)")
  }

  @Test(
    "A missing, unknown or wrong part is refused with the file and its name",
    arguments: ["policy", "misspelled", "reportTypeNoneMap", "daySummaries"])
  func wrong(part: String) throws {
    let failure = try #require(throws: CommandFailure.self) {
      try settings { rules in
        switch part {
        case "policy": rules["policy"] = nil
        case "misspelled": rules["misspelled"] = 1
        case "reportTypeNoneMap": rules["reportTypeNoneMap"] = 6
        default:
          var summaries = rules["daySummaries"] as? [String: Any]
          summaries?["minimumRiskScoreFullRange"] = 32_813
          rules["daySummaries"] = summaries
        }
      }
    }
    #expect(failure.status == .badInput)
    #expect(failure.message.contains("settings.json"))
    #expect(failure.message.contains("remoteConfiguration.windowRiskConfiguration"))
    #expect(failure.message.contains(part), "\(failure.message)")
  }
}

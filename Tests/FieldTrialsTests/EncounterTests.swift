// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Encounters")
struct EncounterTests {
  private func encounter(
    _ made: SampleTrial, _ signal: SignalReading = .corrected
  ) throws -> Encounter {
    let trial = try #require(try FieldTrials(at: made.folder.url).trials.first)
    return Encounter(
      of: try #require(trial.phones.first), in: trial, options: TrialOptions(signal: signal))
  }

  private func scans(_ encounter: Encounter) throws -> [[Int]] {
    let rules = try WindowRules(PublishedConfiguration.all[0].exposureConfiguration)
    return encounter.matches.flatMap(rules.windows).flatMap(\.scanInstances).map {
      [Int($0.minimumAttenuation), Int($0.typicalAttenuation), $0.secondsSinceLastScan]
    }
  }

  @Test("Scans have the least and mean attenuation and the time since the phone's previous scan")
  func windows() throws {
    // The scan before 9:02 received another phone at 8:58, before the trial began.
    let expected = [[50, 51, 240], [60, 60, 240], [70, 70, 240]]
    #expect(try scans(encounter(SampleTrial())) == expected)
  }

  @Test("Uncorrected signal strengths get the receiver's offset")
  func offset() throws {
    let scans = try scans(encounter(SampleTrial(), .uncorrected))
    #expect(scans.map { $0[1] } == [48, 57, 67])
  }

  @Test("Only sightings from start to end count, both included")
  func span() throws {
    let made = try SampleTrial()
    try made.writeSightings(
      "01", [("08:59:59", "-50"), ("09:00:00", "-51"), ("09:20:00", "-52"), ("09:30:01", "-53")])
    #expect(try scans(encounter(made)).map { $0[1] } == [51, 52])
  }

  @Test("Start and end use the phones' local time, whatever zone they state")
  func summerTime() throws {
    // The same local time an hour further east: six intervals earlier in UTC.
    let made = try SampleTrial(zone: "-04", interval: SampleTrial.interval - 6)
    #expect(try scans(encounter(made)).count == 3)
  }

  @Test(
    "The framework's replay rule rejects an identifier after twenty minutes")
  func replay() throws {
    let made = try SampleTrial()
    try made.writeSightings("01", [("09:02:00", "-50"), ("09:22:00", "-51"), ("09:22:30", "-52")])
    #expect(try scans(encounter(made)).map { $0[1] } == [50, 51])
  }

  @Test("The framework's tolerance rejects an identifier of another part of the day")
  func tolerance() throws {
    #expect(try scans(encounter(SampleTrial(interval: SampleTrial.interval + 12))).count == 3)
    #expect(try scans(encounter(SampleTrial(interval: SampleTrial.interval + 14))).isEmpty)
  }

  @Test("Version 2 sums the weighted scans")
  func versionTwo() throws {
    let scoring = try EncounterScoring(PublishedConfiguration.all[0])
    // 51 dB at 150 %, 60 dB at 100 %, 70 dB at 40 %, 240 s each.
    #expect(try scoring.score(of: encounter(SampleTrial())) == 696)
  }

  @Test("Version 1 scores the incident")
  func versionOne() throws {
    let protego = try #require(PublishedConfiguration.all.first { $0.name == "ProteGO Safe" })
    // 13 minutes: 7; 57 dB in the mean: 6; today: 8; transmission risk: 8.
    let score = try EncounterScoring(protego).score(of: encounter(SampleTrial()))
    #expect(score == 6 * 7 * 8 * 8)
  }

  @Test("A phone without sightings of the sick participant scores zero")
  func noSightings() throws {
    let made = try SampleTrial()
    try made.writeSightings("01", [])
    for configuration in PublishedConfiguration.all {
      #expect(try EncounterScoring(configuration).score(of: encounter(made)) == 0)
    }
  }
}

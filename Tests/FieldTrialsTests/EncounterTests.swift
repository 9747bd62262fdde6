import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Encounters of a trial")
struct EncounterTests {
  private func encounter(
    _ made: MadeUpTrial, _ signal: SignalReading = .corrected
  ) throws -> Encounter {
    let trial = try #require(try FieldTrials(at: made.folder.url).trials.first)
    return Encounter(of: try #require(trial.phones.first), in: trial, signal: signal)
  }

  private func scans(_ encounter: Encounter) throws -> [[Int]] {
    let rules = try WindowRules(PublishedConfiguration.all[0].exposureConfiguration)
    return encounter.bySample.flatMap(rules.windows).flatMap(\.scanInstances).map {
      [Int($0.minimumAttenuation), Int($0.typicalAttenuation), $0.secondsSinceLastScan]
    }
  }

  @Test("Scans have the least and mean attenuation and the minutes since the phone's scan before")
  func windows() throws {
    // The scan before 9:02 heard a stranger at 8:58, before the trial began.
    let expected = [[50, 51, 240], [60, 60, 240], [70, 70, 240]]
    #expect(try scans(encounter(MadeUpTrial())) == expected)
  }

  @Test("Uncorrected signal strengths take the receiver's offset")
  func offset() throws {
    let scans = try scans(encounter(MadeUpTrial(), .uncorrected))
    #expect(scans.map { $0[1] } == [48, 57, 67])
  }

  @Test("Only what was heard from start to stop counts, both included")
  func span() throws {
    let made = try MadeUpTrial()
    try made.heard(
      "01", [("08:59:59", "-50"), ("09:00:00", "-51"), ("09:20:00", "-52"), ("09:30:01", "-53")])
    #expect(try scans(encounter(made)).map { $0[1] } == [51, 52])
  }

  @Test("Start and stop are read on the phones' wall clock, whatever zone they state")
  func summerTime() throws {
    // The same wall clock an hour further east: six intervals earlier in UTC.
    let made = try MadeUpTrial(zone: "-04", interval: MadeUpTrial.interval - 6)
    #expect(try scans(encounter(made)).count == 3)
  }

  @Test(
    "The framework's replay rule holds: the same identifier after twenty minutes is not believed")
  func replay() throws {
    let made = try MadeUpTrial()
    try made.heard("01", [("09:02:00", "-50"), ("09:22:00", "-51"), ("09:22:30", "-52")])
    #expect(try scans(encounter(made)).map { $0[1] } == [50, 51])
  }

  @Test("The framework's tolerance holds: an identifier of another part of the day is not believed")
  func tolerance() throws {
    #expect(try scans(encounter(MadeUpTrial(interval: MadeUpTrial.interval + 12))).count == 3)
    #expect(try scans(encounter(MadeUpTrial(interval: MadeUpTrial.interval + 14))).isEmpty)
  }

  @Test("Version 2 weighs the scans, by hand")
  func versionTwo() throws {
    let scoring = try EncounterScoring(PublishedConfiguration.all[0])
    // 51 dB at 150 %, 60 dB at 100 %, 70 dB at 40 %, 240 s each.
    #expect(try scoring.score(of: encounter(MadeUpTrial())) == 696)
  }

  @Test("Version 1 scores the incident, by hand")
  func versionOne() throws {
    let protego = try #require(PublishedConfiguration.all.first { $0.name == "ProteGO Safe" })
    // 13 minutes: 7; 57 dB in the mean: 6; today: 8; transmission risk: 8.
    let score = try EncounterScoring(protego).score(of: encounter(MadeUpTrial()))
    #expect(score == 6 * 7 * 8 * 8)
  }

  @Test("A phone that heard nobody scores nothing")
  func nobody() throws {
    let made = try MadeUpTrial()
    try made.heard("01", [])
    for configuration in PublishedConfiguration.all {
      #expect(try EncounterScoring(configuration).score(of: encounter(made)) == 0)
    }
  }
}

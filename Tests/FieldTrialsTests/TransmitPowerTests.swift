// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Transmit power of the infected phone")
struct TransmitPowerTests {
  private let made: SampleTrial

  init() throws {
    made = try SampleTrial()
  }

  private func setup(_ infected: String) throws {
    try made.write(
      "Room/room_setup.json",
      """
      {"phones": [{"id": "01", "calconf": "3"}, {"id": "02", "calconf": "1"}, \(infected)]}
      """)
  }

  private func log(_ metadata: String, flags: String = "", identifier: String = SampleTrial.sick)
    throws
  {
    try made.log(
      "99",
      """
      Flags:
        \(flags)
      Advertisement records:
        2021-03-01T09:00:00-05  RPI=\(identifier)  TEK=#0  intervalNum=\(SampleTrial.interval) (x)  \
      metadata=\(metadata)  encryptedMeta=1FB42E7A
      Sighting records:
      """)
  }

  private func encounters(_ power: IPhonePower = .setup) throws -> TrialEncounters {
    TrialEncounters(
      of: try FieldTrials(at: made.folder.url).trials, options: TrialOptions(iPhonePower: power))
  }

  /// The least attenuation of the phone whose strongest sample is -50 dBm.
  private func attenuation(_ power: IPhonePower = .setup) throws -> Int? {
    let sightings = try encounters(power).phones.first?.encounter.matches.first?.sightings
    return sightings?.map { Int($0.attenuation.decibels) }.min()
  }

  @Test("An Android phone with withheld metadata has the power that the row states")
  func stated() throws {
    try setup(#"{"id": "99", "calconf": "3", "tx": -5}"#)
    try log("fake (ver=0, txPower=-20)")
    #expect(try attenuation() == 30)
    #expect(try attenuation(.log) == 30)
    #expect(try encounters().losses.isEmpty)
  }

  @Test("If the row states no power, that of the flags counts, then that of the setup")
  func flags() throws {
    try setup(#"{"id": "99", "calconf": "3", "tx": -5}"#)
    try log("fake", flags: "tx_calibration_power = -24")
    #expect(try attenuation() == 26)
    try log("fake")
    #expect(try attenuation() == 45)
  }

  @Test("The logged metadata precedes every other power")
  func metadata() throws {
    try setup(#"{"id": "99", "calconf": "i", "tx": 0}"#)
    try log("54E80000 (ver=84, txPower=-24)", flags: "tx_calibration_power = -29")
    #expect(try attenuation() == 26)
    #expect(try attenuation(.log) == 26)
  }

  @Test("An iPhone has the power of the setup, or that of its log if wanted")
  func iPhone() throws {
    #expect(try attenuation() == 50)
    #expect(try attenuation(.log) == 53)
    try setup(#"{"id": "99", "calconf": "i"}"#)
    #expect(try attenuation() == 53)
  }

  @Test("Beacons without identifier, without power or with an implausible one are counted")
  func losses() throws {
    try log("fake (ver=0, txPower=3)", identifier: "fake")
    #expect(
      try encounters().losses == [.beaconsIdentifierWithheld: 1, .phonesWithoutInfectedBeacon: 2])
    try setup(#"{"id": "99", "calconf": "3"}"#)
    try log("fake")
    #expect(try encounters().losses == [.beaconsPowerUnknown: 1, .phonesWithoutInfectedBeacon: 2])
    try log("fake (ver=0, txPower=21)")
    #expect(
      try encounters().losses == [.beaconsPowerImplausible: 1, .phonesWithoutInfectedBeacon: 2])
    #expect(try encounters().phones.isEmpty)
  }

  @Test("Samples outside of the trial, of another time of the day and replayed ones are counted")
  func samples() throws {
    try made.writeSightings(
      "01",
      [("08:59:00", "-50, -51"), ("09:02:00", "-50"), ("09:22:30", "-52"), ("09:31:00", "-9")])
    #expect(try encounters().losses == [.samplesOutsideTrial: 3, .samplesReplayed: 1])
    let other = try SampleTrial(interval: SampleTrial.interval + 15)
    let losses = TrialEncounters(
      of: try FieldTrials(at: other.folder.url).trials, options: TrialOptions()
    ).losses
    #expect(losses == [.samplesWrongInterval: 6])
  }

  @Test("The result with the other power of iPhones is beside each area")
  func dependence() throws {
    // At 0 dBm the first range of narrow net 1 ends at -55 dBm, at 3 dBm at -52 dBm.
    try made.writeSightings("01", [("09:02:00", "-54")])
    try made.writeSightings("02", [("09:02:00", "-60")])
    let trials = try FieldTrials(at: made.folder.url).trials
    let ranking = try FieldTrialRanking(of: trials)
    let rank = try #require(ranking.ranks.first { $0.configuration.name == "narrow net 1" })
    #expect(rank.areaUnderCurve == 1)
    #expect(rank.areaWithOtherPower == 0.5)
    let log = try FieldTrialRanking(of: trials, options: TrialOptions(iPhonePower: .log))
    let other = try #require(log.ranks.first { $0.configuration.name == "narrow net 1" })
    #expect(other.areaUnderCurve == 0.5 && other.areaWithOtherPower == 1)
  }
}

@Suite("Corrected alerts")
struct CorrectedAlertTests {
  @Test("The corrected alert counts, and the labelled one is a variant")
  func corrected() throws {
    let made = try SampleTrial()
    try made.write(
      "Room/room_1/room_1_info.json",
      """
      {"testId": "room_1", "startTime": "2021-03-01T9:00:00-0500",
       "stopTime": "2021-03-01T09:30:00-0500", "details": [
        {"phone": "01", "exposure": "none", "realExposure": "high"},
        {"phone": "02", "exposure": "high", "realExposure": "none"},
        {"phone": "99", "exposure": "sick"}]}
      """)
    let trials = try FieldTrials(at: made.folder.url)
    #expect(trials.counts.alertsCorrected == 2)
    #expect(trials.trials.first?.phones.map(\.outcome) == [.high, .none, .sick])
    #expect(trials.trials.first?.phones.map(\.labelledOutcome) == [.none, .high, .sick])
    let rank = try #require(try FieldTrialRanking(of: trials.trials).ranks.first)
    #expect(rank.areaUnderCurve == 1 && rank.labelledArea == 0)
  }

  @Test("A phone with an invalid corrected alert is unreadable")
  func invalid() throws {
    let made = try SampleTrial()
    try made.write(
      "Room/room_1/room_1_info.json",
      """
      {"testId": "room_1", "startTime": "2021-03-01T9:00:00-0500",
       "stopTime": "2021-03-01T09:30:00-0500", "details": [
        {"phone": "01", "exposure": "none", "realExposure": "maybe"},
        {"phone": "99", "exposure": "sick"}]}
      """)
    let trials = try FieldTrials(at: made.folder.url)
    #expect(trials.trials.first?.phones.map(\.id) == ["99"])
    #expect(trials.counts.filesUnreadable == 2)
  }
}

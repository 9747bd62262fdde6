// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

struct ExposureIncidentTests {
  private func incidents(at seconds: [TimeInterval]) throws -> [ExposureIncident] {
    ExposureIncident.incidents(
      of: KeyMatch(key: try BeaconSender().key, sightings: try seconds.map { try .at($0) }))
  }

  @Test("The published example of a weighted attenuation gives 3 dB")
  func weightedAttenuation() throws {
    // The example's scan interval is 6 and ours is 300 s, so its times are multiplied by 50.
    let incident = ExposureIncident(
      key: try BeaconSender().key,
      scans: [
        try .at(0, attenuation: 1), try .at(500, attenuation: 4), try .at(2_500, attenuation: 5),
      ].scans)
    #expect(incident.spans.map(\.seconds) == [650, 2_000, 150])
    #expect(incident.attenuation == Attenuation(decibels: 3))
  }

  @Test("A mean halfway between two values is rounded up")
  func rounding() throws {
    let incident = ExposureIncident(
      key: try BeaconSender().key,
      scans: [
        try .at(0, attenuation: 40), try .at(300, attenuation: 41), try .at(600, attenuation: 41),
      ].scans)
    #expect(incident.attenuation == Attenuation(decibels: 41))
  }

  @Test(
    "A gap of more than 10 minutes ends an incident",
    arguments: [(599.0, 1), (600, 1), (601, 2)])
  func gaps(seconds: TimeInterval, count: Int) throws {
    #expect(try incidents(at: [0, seconds]).count == count)
  }

  @Test("A single sighting lasts 5 minutes, half a scan interval on each side")
  func single() throws {
    let incident = try #require(try incidents(at: [0]).first)
    #expect(incident.duration() == 300)
    #expect(incident.durations(at: [50, 70]) == [0, 300, 0])
  }

  @Test(
    "Durations are rounded up to the minute and limited to 30 minutes",
    arguments: [
      (240.0, 540, 9), (299, 600, 10), (300, 600, 10), (301, 660, 11), (1_499, 1_800, 30),
      (1_500, 1_800, 30), (1_501, 1_800, 31),
    ])
  func durations(last: TimeInterval, duration: Int, minutes: Int) throws {
    let times = Array(stride(from: 0, to: last, by: 200)) + [last]
    let incident = try #require(try incidents(at: times).first)
    #expect(incident.duration() == duration)
    #expect(incident.minutes == minutes)
  }

  @Test("The first 30 minutes of an incident are divided by attenuation")
  func attenuationDurations() throws {
    let near = try stride(from: 0.0, through: 900, by: 300).map {
      try MatchedSighting.at($0, attenuation: 50)
    }
    let far = try stride(from: 1_200.0, through: 2_400, by: 300).map {
      try MatchedSighting.at($0, attenuation: 51)
    }
    let incident = ExposureIncident(key: try BeaconSender().key, scans: (near + far).scans)
    #expect(incident.exactDuration == 2_700)
    #expect(incident.durations(at: [50, 70]) == [1_350, 450, 0])
    #expect(incident.durations(at: [50, 70, 90]) == [1_350, 450, 0, 0])
  }

  @Test("The beacons of one scan do not prolong an incident, and the nearest counts")
  func sameScan() throws {
    #expect(try incidents(at: [0, 0, 4]).first?.exactDuration == 300)
    let match = KeyMatch(
      key: try BeaconSender().key,
      sightings: [
        try .at(0, attenuation: 50), try .at(2, attenuation: 55), try .at(4, attenuation: 40),
        try .at(6, attenuation: 75), try .at(240, attenuation: 60),
      ])
    let incident = try #require(ExposureIncident.incidents(of: match).first)
    #expect(incident.spans.map(\.attenuation.decibels) == [40, 60])
    #expect(incident.spans.map(\.seconds) == [390, 150])
  }

  @Test("Version 1 takes the minimum attenuation of version 2's scans", arguments: 1...20)
  func oneRule(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    let sightings = try (0..<60).map { _ in
      try MatchedSighting.at(
        Double(Int.random(in: 0..<1_800, using: &dice)),
        attenuation: Int.random(in: 20...90, using: &dice))
    }
    let match = KeyMatch(key: try BeaconSender().key, sightings: sightings)
    let windows = ExposureWindow.windows(
      of: match, infectiousness: .standard, diagnosisReportType: .confirmedTest)
    #expect(
      ExposureIncident.incidents(of: match).flatMap(\.spans).map(\.attenuation.decibels)
        == windows.flatMap(\.scanInstances).map(\.minimumAttenuation))
  }
}

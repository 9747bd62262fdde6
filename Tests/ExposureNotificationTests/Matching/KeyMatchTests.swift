// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

struct KeyMatchTests {
  @Test(
    "Sightings of an identifier count for 20 minutes after the first one",
    arguments: [(1_199.0, true), (1_200, true), (1_201, false)])
  func lifetime(seconds: TimeInterval, isKept: Bool) throws {
    let kept = ReplayRule.filtered([try .at(0), try .at(seconds, step: 0)])
    #expect(kept.count == (isKept ? 2 : 1))
  }

  @Test("The 20 minutes begin again with the next identifier")
  func nextIdentifier() throws {
    let kept = ReplayRule.filtered([
      try .at(0, step: 0), try .at(1_300, step: 1), try .at(2_400, step: 1),
    ])
    #expect(kept.count == 3)
  }

  @Test("The earliest sighting counts as the first in any input order")
  func anyOrder() throws {
    let kept = ReplayRule.filtered([try .at(1_500, step: 0), try .at(100)])
    #expect(kept.map(\.time) == [try MatchedSighting.at(100).time])
  }

  @Test("An earlier forged beacon does not turn the real one into a replay")
  func forgedFirst() throws {
    let forged = try MatchedSighting.at(0, metadata: BluetoothMetadata(transmitPower: 100))
    let match = KeyMatch(
      key: try BeaconSender().key,
      sightings: [forged, try .at(1_500, step: 0), try .at(2_000, step: 0)])
    #expect(match.credible?.sightings.count == 2)
  }

  @Test("A match with forged beacons only is discarded")
  func onlyForged() throws {
    let forged = try MatchedSighting.at(0, metadata: BluetoothMetadata(transmitPower: 100))
    #expect(KeyMatch(key: try BeaconSender().key, sightings: [forged]).credible == nil)
  }

  @Test(
    "A sighting with an implausible transmit power is rejected",
    arguments: [(Int8(-51), false), (-50, true), (20, true), (21, false)])
  func transmitPower(power: Int8, isKept: Bool) throws {
    let metadata = BluetoothMetadata(transmitPower: power)
    #expect(PlausibilityRule.accepts(try .at(0, metadata: metadata)) == isKept)
  }

  @Test(
    "A sighting with a major version other than 1 is rejected",
    arguments: [(UInt8(0x00), false), (0x40, true), (0x50, true), (0x80, false), (0xc0, false)])
  func version(byte: UInt8, isKept: Bool) throws {
    let metadata = try required(BluetoothMetadata(bytes: [byte, 0, 0, 0]))
    #expect(PlausibilityRule.accepts(try .at(0, metadata: metadata)) == isKept)
  }

  @Test("A sighting without a signal strength is rejected")
  func strength() throws {
    let metadata = BluetoothMetadata(transmitPower: 7)
    #expect(PlausibilityRule.accepts(try .at(0, attenuation: 7 - 126, metadata: metadata)))
    let unknown = try MatchedSighting.at(0, attenuation: 7 - 127, metadata: metadata)
    #expect(!unknown.scanned.sighting.hasSignalStrength)
    #expect(!PlausibilityRule.accepts(unknown))
    #expect(unknown.scanned.sighting.corrected(by: -20) == unknown.scanned.sighting)
  }

  @Test("Of contradictory metadata of an identifier the lowest transmit power counts, in any order")
  func contradictoryMetadata() throws {
    let sightings = [
      try MatchedSighting.at(0, attenuation: 30),
      try .at(1, attenuation: 40, metadata: BluetoothMetadata(transmitPower: 20)),
      try .at(700, attenuation: 40, metadata: BluetoothMetadata(transmitPower: 20)),
    ]
    for order in [sightings, sightings.reversed()] {
      let match = KeyMatch(key: try BeaconSender().key, sightings: order)
      let credible = try #require(match.credible)
      #expect(credible.sightings.map(\.metadata.transmitPower) == [10, 10, 20])
      #expect(credible.sightings.map(\.attenuation.decibels) == [30, 30, 40])
    }
  }

  @Test("The attenuation is 0 if the signal is stronger than the transmit power")
  func attenuation() throws {
    let loud = BluetoothMetadata(transmitPower: -50)
    #expect(try MatchedSighting.at(0, attenuation: -40, metadata: loud).attenuation.decibels == 0)
  }
}

// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing
import World

@testable import Bluetooth

@Suite("Advertising reports")
struct AdvertisingReportTests {
  private func reports(_ content: [UInt8]) -> AdvertisingReports {
    AdvertisingReports(content: content)
  }

  @Test("An event with several reports gives each of them")
  func several() {
    let content =
      [3] + Event.report([1, 2], strength: -40) + Event.report([], type: 0, strength: 20)
      + Event.report([3], type: 2, address: [9, 9, 9, 9, 9, 9], strength: -127)
    let parsed = reports(content)
    #expect(parsed.malformedCount == 0)
    #expect(parsed.reports.map(\.payload) == [[1, 2], [], [3]])
    #expect(parsed.reports.map(\.signalStrength) == [-40, 20, -127])
    #expect(parsed.reports.last?.address == [9, 9, 9, 9, 9, 9])
  }

  @Test("A content that is cut anywhere gives the complete reports and counts the others")
  func truncation() {
    let report = Event.report([1, 2, 3, 4])
    let content = [3] + report + report + report
    for count in 1..<content.count {
      let parsed = reports(Array(content.prefix(count)))
      let complete = (count - 1) / report.count
      #expect(parsed.reports.count == complete)
      #expect(parsed.malformedCount == 3 - complete)
    }
    #expect(reports([]).malformedCount == 1)
  }

  @Test("A report with impossible values is counted and the next one is read")
  func impossibleValues() {
    let impossible = [
      Event.report([1], type: 5), Event.report([1], strength: 21),
      Event.report([1], strength: -128),
      Event.report([UInt8](repeating: 0, count: 32)),
    ]
    for report in impossible {
      let parsed = reports([2] + report + Event.report([7]))
      #expect(parsed.malformedCount == 1)
      #expect(parsed.reports.map(\.payload) == [[7]])
    }
  }

  @Test("A scan response and a report without signal strength are ignored")
  func ignored() {
    let parsed = reports([2] + Event.report([1], type: 4) + Event.report([1], strength: 127))
    #expect(parsed.reports.isEmpty)
    #expect(parsed.malformedCount == 0)
  }

  @Test("An impossible number of reports and bytes after the last one are malformed")
  func counts() {
    #expect(reports([0]).malformedCount == 1)
    #expect(reports([26] + Event.report([1])).reports.isEmpty)
    let parsed = reports([1] + Event.report([1]) + [0])
    #expect(parsed.reports.count == 1)
    #expect(parsed.malformedCount == 1)
  }

  @Test("Random bytes never crash the parsers", arguments: 0..<8)
  func randomBytes(seed: UInt64) {
    let randomness = TestRandomness(seed: seed)
    var parser = PacketParser()
    for _ in 0..<2_000 {
      _ = reports(randomness.bytes(randomness.number(in: 0...80)))
      _ = parser.events(in: randomness.bytes(randomness.number(in: 0...80)))
    }
  }

  @Test("Only beacons are collected, up to the limit")
  func collection() throws {
    let payload = try TestBeacons.advertisement(1).payload
    var received = CollectedBeacons()
    let date = Date(timeIntervalSince1970: 1_800_000_000)
    let two = reports([2] + Event.report(payload) + Event.report([2, 1, 6]))
    for _ in 0..<BluetoothLimit.beaconsPerScan { received.add(two, at: date) }
    #expect(received.sightings.count == BluetoothLimit.beaconsPerScan)
    #expect(received.excessCount == 0)
    received.add(two, at: date)
    #expect(received.sightings.count == BluetoothLimit.beaconsPerScan)
    #expect(received.excessCount == 1)
    #expect(received.sightings.first?.signalStrength == -60)
    #expect(received.sightings.first?.time == date)
  }
}

/// Advertisements with recognizable bytes.
enum TestBeacons {
  static func advertisement(_ byte: UInt8) throws -> Advertisement {
    Advertisement(
      identifier: try #require(
        RollingProximityIdentifier(bytes: [UInt8](repeating: byte, count: 16))),
      metadata: try #require(
        AssociatedEncryptedMetadata(bytes: [UInt8](repeating: byte, count: 4))))
  }
}

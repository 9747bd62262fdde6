// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import FieldTrials
import Foundation
import Testing

@Suite("Phone logs")
struct PhoneLogTests {
  private let advertisement =
    "2021-03-01T09:00:00-05 RPI=5EE80A629A96E9D5CB42C33B222365EC TEK=#1 intervalNum=2691012 (x) "
    + "metadata=5CE00000 (ver=92, txPower=-32) encryptedMeta=C52F77AA"
  private let sightingHeader = "RPI=5EE80A629A96E9D5CB42C33B222365EC\tencryptedMetadata=1FB42E7A"

  private func log(_ lines: String...) -> PhoneLog {
    PhoneLog(Data(lines.joined(separator: "\r\n").utf8))
  }

  @Test("A sent beacon is read with its interval, key and power")
  func sent() throws {
    let row = try #require(log("Advertisement records:", advertisement).advertisements.first)
    #expect(row.identifier?.bytes.prefix(2) == [0x5e, 0xe8])
    #expect(row.interval.rawValue == 2_691_012)
    #expect(row.keyNumber == 1)
    #expect(row.metadata?.transmitPower == -32)
  }

  @Test("Withheld values are nil, and the row still counts")
  func withheld() throws {
    let row = advertisement.replacingOccurrences(of: "5CE00000", with: "fake")
      .replacingOccurrences(of: "5EE80A629A96E9D5CB42C33B222365EC", with: "fake")
    let log = log("Advertisement records:", row)
    #expect(log.linesSkipped == 0)
    #expect(try #require(log.advertisements.first).identifier == nil)
    #expect(log.advertisements.first?.metadata == nil)
  }

  @Test("A received beacon is read with every sample, and the offset with its sign")
  func sightings() {
    let log = log(
      "Flags:", "  rssi_offset = -3", "  tx_calibration_power = -24", "Sighting records:",
      sightingHeader,
      "    2021-03-01T09:02:00-0500 (4s) rssi=[-50, -52,-127]  ")
    #expect(log.receiverOffset == -3)
    #expect(log.sightings.map(\.signalStrengths) == [[-50, -52, -127]])
    #expect(log.identifiersSeen == 1)
    #expect(log.linesSkipped == 0)
  }

  @Test(
    "An invalid advertisement is counted and skipped",
    arguments: [
      ("RPI=5EE8", "RPI=5E8"), ("RPI=5EE8", "RPI=ZZE8"), ("TEK=#1", "TEK=1"),
      ("TEK=#1", "TEK=#-1"), ("2691012", "99999999999"), ("intervalNum", "interval"),
      ("5CE00000", "5CE000"), ("2021-03-01T", "yesterday "), ("metadata=", "meta="),
    ])
  func brokenAdvertisement(sound: String, broken: String) {
    let log = log(
      "Advertisement records:", advertisement.replacingOccurrences(of: sound, with: broken),
      advertisement)
    #expect(log.advertisements.count == 1)
    #expect(log.linesSkipped == 1)
  }

  @Test(
    "An invalid sighting is counted and skipped",
    arguments: [
      "2021-03-01T09:02:00-05 (4s) rssi=[]", "2021-03-01T09:02:00-05 (4s) rssi=[-50",
      "2021-03-01T09:02:00-05 (4s)", "2021-03-01T09:02:00 (4s) rssi=[-50]", "]rssi=[",
      "2021-03-01T09:02:00-05 rssi=[-50, , -51]", "2021-03-01T09:02:00-05 rssi=[-50, x]",
      "2021-03-01T09:02:00-05 rssi=[-4294967292]", "RPI=12 encryptedMetadata=00000000",
      "RPI=5EE80A629A96E9D5CB42C33B222365EC",
    ])
  func brokenSighting(row: String) {
    let log = log("Sighting records:", sightingHeader, "2021-03-01T09:02:00-05 rssi=[-60]", row)
    #expect(log.sightings.count == 1)
    #expect(log.linesSkipped == 1)
  }

  @Test("Sightings of an unreadable identifier are skipped")
  func nameless() {
    let log = log(
      "Sighting records:", "RPI=fake encryptedMetadata=00000000",
      "2021-03-01T09:02:00-05 rssi=[-60]")
    #expect(log.sightings.isEmpty)
    #expect(log.linesSkipped == 2)
  }

  @Test(
    "A sample that no radio can report is removed from its row",
    arguments: [(-128, 1), (-127, 0), (-126, 0), (19, 0), (20, 0), (21, 1), (66, 1)])
  func samples(sample: Int, leftOut: Int) {
    let log = log(
      "Sighting records:", sightingHeader, "2021-03-01T09:02:00-05 (0s) rssi=[-60, \(sample)]")
    #expect(log.sightings.map(\.signalStrengths.count) == [2 - leftOut])
    #expect(log.sightings.map(\.implausibleSamples) == [leftOut])
  }

  @Test(
    "A correction that no receiver can have is rejected",
    arguments: [(-61, nil), (-60, -60), (-59, -59), (59, 59), (60, 60), (61, nil)] as [(Int, Int8?)]
  )
  func offsets(offset: Int, taken: Int8?) {
    let log = log("Flags:", "rssi_offset = \(offset)")
    #expect(log.receiverOffset == taken)
    #expect(log.linesSkipped == (taken == nil ? 1 : 0))
  }

  @Test("Bytes that are not text are skipped")
  func bytes() {
    let noise = Data("Sighting records:\n".utf8) + Data((0..<5_000).map { UInt8($0 % 256) })
    let log = PhoneLog(noise)
    #expect(log.sightings.isEmpty)
    #expect(log.linesSkipped > 0)
    #expect(PhoneLog(Data()).linesSkipped == 0)
  }
}

@Suite("Times of logs")
struct LogTimeTests {
  @Test(
    "Hours of one digit or two and zones of two digits or four are read",
    arguments: [
      ("2021-03-12T09:19:00-0500", 1_615_558_740), ("2021-03-12T9:19:00-05", 1_615_558_740),
      ("2021-03-12T19:49:00+0530", 1_615_558_740), ("1970-01-01T00:00:00+00", 0),
      ("2000-02-29T23:59:59+00", 951_868_799), ("2021-03-01T00:00:00+00", 1_614_556_800),
    ])
  func moments(text: String, seconds: Int) throws {
    #expect(try #require(LogTime(text)).date == Date(timeIntervalSince1970: Double(seconds)))
  }

  @Test("The local time can be read in another zone than the stated one")
  func zones() throws {
    let time = try #require(LogTime("2021-03-15T10:18:00-0500"))
    #expect(time.zoneSeconds == -18_000)
    #expect(time.date(zoneSeconds: -14_400) == LogTime("2021-03-15T10:18:00-04")?.date)
  }

  @Test(
    "An invalid time is rejected",
    arguments: [
      "", "T", "2021-03-12", "2021-03-12T09:19:00", "2021-13-12T09:19:00-05",
      "2021-03-32T09:19:00-05", "2021-03-12T24:19:00-05", "2021-03-12T09:60:00-05",
      "2021-03-12T09:19:00-5", "2021-03-12T09:19:00-15", "2021-03-12T09:19:00-0560",
      "2021-03-12T-9:19:00-05", "99999-03-12T09:19:00-05", "2021-03T09:19:00-05",
      "2021-03-12T09:19-05", "1969-03-12T09:19:00-05",
    ])
  func nonsense(text: String) {
    #expect(LogTime(text) == nil)
  }
}

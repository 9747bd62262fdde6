import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 3.
@Suite struct BeaconsTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  @Test("Every beacon of three days belongs to the key of its day and its interval")
  func beaconBelongsToKey() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.live(device, days: 3)
    let keys = try await device.beacons.release(
      at: phone.clock.now.addingTimeInterval(TestPhone.day), includingToday: false)
    #expect(keys.map(\.rollingPeriod) == [144, 144, 144, 144])
    #expect(keys.allSatisfy { $0.rollingStart == $0.rollingStart.startOfDay })
    #expect(Set(keys.map(\.secretBytes)).count == 4)
    for sent in phone.radio.sent {
      let interval = try #require(IntervalNumber(sent.time))
      let schedule = KeySchedule(try #require(keys.first { $0.covers(interval) }))
      #expect(sent.advertisement.identifier == schedule.identifier(at: interval))
      let metadata = schedule.open(
        sent.advertisement.metadata, beside: sent.advertisement.identifier)
      #expect(metadata == BluetoothMetadata(transmitPower: 8))
    }
  }

  @Test("Identifier and metadata change together after ten to twenty minutes, and at midnight")
  func beaconChanges() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.live(device, days: 2)
    let sent = phone.radio.sent
    #expect(sent.count > 2 * 72)
    for (last, next) in zip(sent, sent.dropFirst()) {
      let seconds = next.time.timeIntervalSince(last.time)
      let isMidnight = next.time.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400) == 0
      #expect(isMidnight ? seconds < 1200 : seconds > 600 && seconds < 1200)
      #expect(last.advertisement.identifier != next.advertisement.identifier)
      #expect(last.advertisement.metadata != next.advertisement.metadata)
    }
    let midnights = sent.filter { $0.time.timeIntervalSince1970.remainder(dividingBy: 86_400) == 0 }
    #expect(midnights.count == 2)
  }

  @Test("A phone that was restarted goes on with the key of the day")
  func restart() async throws {
    try await phone.device().setEnabled(true)
    let before = try #require(phone.radio.sent.last)
    let again = phone.device()
    await again.beat()
    #expect(phone.radio.sent.count == 2)
    #expect(phone.radio.sent.last?.advertisement == before.advertisement)
  }

  @Test("Own keys are kept 14 days, not a day longer")
  func retention() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.live(device, days: 20)
    let keys = try await device.beacons.release(at: phone.clock.now, includingToday: false)
    let today = try #require(IntervalNumber(phone.clock.now)).startOfDay.rawValue
    #expect(keys.map(\.rollingStart.rawValue) == (1...14).reversed().map { today - 144 * $0 })
  }

  @Test("Keys that do not open are set aside, and the phone goes on with new ones")
  func damagedKeys() async throws {
    try await phone.device().setEnabled(true)
    let before = try #require(phone.radio.sent.last)
    var bytes = try Data(contentsOf: folder.path("keys"))
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: folder.path("keys"))
    await phone.device().beat()
    #expect(phone.radio.sent.last?.advertisement != before.advertisement)
    #expect(FileManager.default.fileExists(atPath: folder.path("keys.damaged").path))
  }
}

import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct BeaconsTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  @Test("Every beacon of three days is derived from the key of its day and its interval")
  func beaconBelongsToKey() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 3)
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
      #expect(metadata == BluetoothMetadata(phone.calibration))
    }
  }

  @Test("Identifier and metadata change together after ten to twenty minutes, and at midnight")
  func beaconChanges() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 2)
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

  @Test("After a restart the beacon of the same interval is sent again")
  func restart() async throws {
    try await phone.device().setEnabled(true)
    let before = try #require(phone.radio.sent.last)
    let again = phone.device()
    await again.beat()
    #expect(phone.radio.sent.count == 2)
    #expect(phone.radio.sent.last?.advertisement == before.advertisement)
  }

  @Test("Own keys are removed after 14 days")
  func retention() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 20)
    let keys = try await device.beacons.release(at: phone.clock.now, includingToday: false)
    let today = try #require(IntervalNumber(phone.clock.now)).startOfDay.rawValue
    #expect(keys.map(\.rollingStart.rawValue) == (1...14).reversed().map { today - 144 * $0 })
  }

  @Test("A damaged key file is set aside, and a new key is created")
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

  static let midnight = IntervalNumber(rawValue: 144 * 18_428)
  static let noon = IntervalNumber(rawValue: midnight.rawValue + 72)

  private func bytes(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 16) }

  @Test("A key added at noon covers its whole day")
  func wholeDay() {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    #expect(own.key(at: Self.midnight) == own.key(at: Self.noon))
    #expect(own.keys.map(\.rollingPeriod) == [144])
    own.add(bytes(2), at: Self.noon)
    #expect(own.keys.count == 1)
  }

  @Test("Without today, the current key is neither released nor changed")
  func withoutToday() {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    let before = own
    #expect(own.release(at: Self.noon, includingToday: false).isEmpty)
    #expect(own == before)
  }

  @Test("A key released at noon ends before noon, and the next key covers the rest of the day")
  func releaseToday() throws {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    let released = own.release(at: Self.noon, includingToday: true)
    #expect(released.map(\.rollingPeriod) == [72])
    #expect(own.key(at: Self.noon) == nil)
    own.add(bytes(2), at: Self.noon)
    let next = try #require(own.key(at: Self.noon))
    #expect(next.rollingStart == Self.noon && next.rollingPeriod == 72)
    #expect(next.secretBytes == bytes(2))
  }

  @Test("A second release in the same interval returns no new key and keeps the current one")
  func releaseTwice() throws {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    _ = own.release(at: Self.noon, includingToday: true)
    own.add(bytes(2), at: Self.noon)
    let before = own
    #expect(own.release(at: Self.noon, includingToday: true).map(\.rollingPeriod) == [72])
    #expect(own == before)
  }

  @Test("No two keys cover the same interval, even after the clock was set back")
  func noOverlap() throws {
    var own = OwnKeys()
    for (byte, hour) in [(1, 12), (2, 18), (3, 6), (4, 9), (5, 0)] as [(UInt8, UInt32)] {
      let interval = IntervalNumber(rawValue: Self.midnight.rawValue + hour * 6)
      own.add(bytes(byte), at: interval)
      _ = own.release(at: interval, includingToday: true)
      own.add(bytes(byte + 100), at: interval)
      #expect(own.key(at: interval) != nil)
    }
    for (key, next) in zip(own.keys, own.keys.dropFirst()) {
      #expect(key.rollingEnd <= next.rollingStart)
    }
  }

  @Test("Keys of 14 days ago are kept, keys of 15 days ago are removed")
  func prune() {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    for (days, isKept) in [(13, true), (14, true), (15, false)] as [(UInt32, Bool)] {
      var copy = own
      let later = IntervalNumber(rawValue: Self.noon.rawValue + days * 144)
      let isPruned = copy.prune(at: later)
      #expect(isPruned != isKept)
      #expect(copy.keys.isEmpty != isKept)
    }
  }
}

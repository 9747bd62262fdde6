// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import TestSupport
import Testing
import World

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

  @Test("Beacons of hours that are computed at once belong to their keys and change as others do")
  func beaconsOfHours() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    var sent: [ScheduledBeacon] = []
    for _ in 0..<48 {
      let end = phone.clock.now + 3_600
      let hour = await device.sendBeacons(until: end)
      #expect(hour.first?.start == phone.clock.now)
      #expect(phone.radio.sent.last?.advertisement == hour.last?.advertisement)
      sent += hour
      phone.clock.advance(by: 3_600)
    }
    let keys = try await device.beacons.release(
      at: phone.clock.now.addingTimeInterval(TestPhone.day), includingToday: false)
    var changes = sent
    changes.removeAll { beacon in
      sent.contains { $0.advertisement == beacon.advertisement && $0.start < beacon.start }
    }
    for (last, next) in zip(changes, changes.dropFirst()) {
      #expect(next.start.timeIntervalSince(last.start) < 1_200)
    }
    for beacon in changes {
      let interval = try #require(IntervalNumber(beacon.start))
      let schedule = KeySchedule(try #require(keys.first { $0.covers(interval) }))
      #expect(beacon.advertisement.identifier == schedule.identifier(at: interval))
    }
    try await device.setEnabled(false)
    #expect(await device.sendBeacons(until: phone.clock.now + 3_600).isEmpty)
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

  static let midnight = IntervalNumber(rawValue: 144 * 18_428)
  static let noon = IntervalNumber(rawValue: midnight.rawValue + 72)

  static let morning = IntervalNumber(rawValue: midnight.rawValue + 36)

  private func bytes(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 16) }

  @Test("A key added at noon covers its whole day")
  func wholeDay() {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    #expect(own.key(at: Self.midnight) == own.key(at: Self.noon))
    #expect(own.keys.map(\.key.rollingPeriod) == [144])
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

  @Test("A released key is never sent again after the clock was set back")
  func releasedKeyIsNotSent() throws {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    _ = own.release(at: Self.noon, includingToday: true)
    own.add(bytes(2), at: Self.noon)
    #expect(own.key(at: Self.morning) == nil)
    own.add(bytes(3), at: Self.morning)
    let again = try #require(own.key(at: Self.morning))
    #expect(again.secretBytes == bytes(3))
    // A server accepts keys that overlap only if they have the same start.
    #expect(again.rollingStart == Self.midnight && again.rollingEnd == Self.noon)
    #expect(own.key(at: Self.noon)?.secretBytes == bytes(2))
  }

  @Test("A day has three keys at most, and then the current one is not released before its end")
  func keysOfDay() throws {
    var own = OwnKeys()
    own.add(bytes(0), at: Self.midnight)
    for interval: UInt32 in 1...17 {
      let now = IntervalNumber(rawValue: Self.midnight.rawValue + interval * 8)
      let released = own.release(at: now, includingToday: true)
      #expect(released.count == min(Int(interval), OwnKeyLimit.perDay - 1))
      own.add(bytes(UInt8(interval)), at: now)
      #expect(own.key(at: now) != nil)
    }
    #expect(own.keys.count == OwnKeyLimit.perDay)
    let tomorrow = IntervalNumber(rawValue: Self.midnight.rawValue + 144)
    #expect(own.release(at: tomorrow, includingToday: false).count == OwnKeyLimit.perDay)
  }

  @Test("With releases at every hour of a month, a release has thirty keys at most, of 15 days")
  func keysOfRelease() throws {
    var own = OwnKeys()
    var most = 0
    for hour: UInt32 in 0..<(31 * 24) {
      let now = IntervalNumber(rawValue: Self.midnight.rawValue + hour * 6 + 3)
      own.prune(keeping: RetentionPeriod(times: [now.date]))
      own.add(bytes(1), at: now)
      let released = own.release(at: now, includingToday: true)
      own.add(bytes(2), at: now)
      #expect(own.key(at: now) != nil)
      most = max(most, released.count)
      // Before a phone was used for 15 days, it may use up the room of later days.
      #expect(own.keys.count <= OwnKeyLimit.perRelease)
      #expect(own.days.allSatisfy { own.keys(of: $0).count <= OwnKeyLimit.perDay })
    }
    #expect(most == OwnKeyLimit.perRelease - 1)
  }

  @Test("After the clock was set back at random, no key to send covers an interval of another")
  func noOverlap() throws {
    var own = OwnKeys()
    for (byte, hour) in [(1, 12), (2, 18), (3, 6), (4, 9), (5, 0)] as [(UInt8, UInt32)] {
      let interval = IntervalNumber(rawValue: Self.midnight.rawValue + hour * 6)
      own.add(bytes(byte), at: interval)
      _ = own.release(at: interval, includingToday: true)
      own.add(bytes(byte + 100), at: interval)
    }
    let sent = own.keys.filter { !$0.isReleased }.map(\.key)
    for (key, next) in zip(sent, sent.dropFirst()) {
      #expect(key.rollingEnd <= next.rollingStart)
    }
    for (own, next) in zip(own.keys.map(\.key), own.keys.map(\.key).dropFirst()) {
      #expect(own.rollingEnd <= next.rollingStart || own.rollingStart == next.rollingStart)
    }
  }

  @Test("Keys of 14 days ago are kept, keys of 15 days ago are removed")
  func prune() {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    for (days, isKept) in [(13, true), (14, true), (15, false)] as [(UInt32, Bool)] {
      var copy = own
      let later = IntervalNumber(rawValue: Self.noon.rawValue + days * 144)
      copy.prune(keeping: RetentionPeriod(times: [later.date]))
      #expect(copy.keys.isEmpty != isKept)
    }
  }

  @Test("The stored keys of a day are read back, and other content is damaged")
  func record() throws {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    _ = own.release(at: Self.noon, includingToday: true)
    own.add(bytes(2), at: Self.noon)
    let day = Day(of: Self.noon.date)
    let content = StoredKeys.content(of: own.keys)
    #expect(try StoredKeys.keys(in: content, of: day.number) == own.keys)
    #expect(own.keys.map(\.isReleased) == [true, false])
    for bad in [Data(), content.dropLast(), content + [0], Data([2]) + content.dropFirst()] {
      #expect(throws: SealedStorageError.damaged) {
        try StoredKeys.keys(in: Data(bad), of: day.number)
      }
    }
    #expect(throws: SealedStorageError.damaged) {
      try StoredKeys.keys(in: content, of: day.number + 1)
    }
  }
}

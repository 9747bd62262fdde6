// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct ContactsTests {
  let folder: TemporaryFolder
  let phone: TestPhone
  let segment = "contacts/18428.sealed"

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  private func segments() -> [String] {
    folder.files().filter { $0.path.contains("/contacts/") }.map(\.lastPathComponent).sorted()
  }

  @Test("Scans that a radio has collected are stored like single ones")
  func collected() async throws {
    let other = TestPhone(in: folder.path("other"))
    let device = phone.device()
    let single = other.device()
    for device in [device, single] { try await device.setEnabled(true) }
    let midnight = Day(of: phone.clock.now).midnight + TestPhone.day
    let scans = try (0..<30).map { number in
      let time = midnight - 3_600 + Double(number) * 240
      return Scan(time: time, sightings: try (0..<3).map { try phone.sighting($0, at: time + 1) })
    }
    for clock in [phone.clock, other.clock] { clock.advance(by: TestPhone.day) }
    await device.receive(scans)
    for scan in scans { await other.radio.receive(scan) }
    let received = try await device.contacts.received()
    #expect(received.sightings.count == 90 && received.scanTimes.count == 30)
    #expect(received == (try await single.contacts.received()))
  }

  @Test("Received sightings are unchanged after a restart")
  func restart() async throws {
    try await phone.device().setEnabled(true)
    let device = phone.device()
    await device.beat()
    let received = [try phone.sighting(1), try phone.sighting(2, at: phone.clock.now + 0.125)]
    await phone.radio.receive(received)
    #expect(try await phone.device().contacts.sightings() == received)
  }

  @Test("Each day has its own segment, which is removed after 14 days")
  func retention() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    for day in 0..<3 {
      await phone.radio.receive([try phone.sighting(day)])
      phone.clock.advance(by: TestPhone.day)
      await device.beat()
    }
    #expect(segments() == ["18428.sealed", "18429.sealed", "18430.sealed"])
    await phone.run(device, days: 11)
    #expect(segments().count == 3)
    await phone.run(device, days: 1)
    #expect(segments() == ["18429.sealed", "18430.sealed"])
    #expect(try await device.contacts.sightings().count == 2)
  }

  @Test("Sightings outside the retention period or of a disabled device are discarded")
  func notKept() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    for days in [-15.0, 2] {
      await phone.radio.receive([try phone.sighting(at: phone.clock.now + days * TestPhone.day)])
    }
    #expect(try await device.contacts.sightings().isEmpty)
    try await device.setEnabled(false)
    #expect(!phone.radio.isListening)
    await device.contacts.receive(
      Scan(time: phone.clock.now, sightings: [try phone.sighting()]))
    #expect(try await device.contacts.sightings().isEmpty)
  }

  @Test(
    "On a full disk a scan is lost as a whole, and the next one is stored",
    .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    let phone = TestPhone(in: disk.url.appendingPathComponent("phone"))
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive([try phone.sighting(1)])
    let ballast = disk.fill()
    await phone.radio.receive(try (2...500).map { try phone.sighting($0) })
    #expect(try await phone.device().contacts.sightings().count == 1)
    try FileManager.default.removeItem(at: ballast)
    let last = try phone.sighting(501)
    await phone.radio.receive([last])
    #expect(try await phone.device().contacts.sightings() == [try phone.sighting(1), last])
  }

  @Test("Sightings above the limits of a scan and a day are discarded")
  func limits() async throws {
    let (scan, day) = (ContactLimit.sightingsPerScan, ContactLimit.sightingsPerDay)
    #expect(
      [scan - 1, scan, scan + 1].map { ContactLimit.admitted($0, after: 0) }
        == [scan - 1, scan, scan])
    #expect(
      [day - 2, day - 1, day, day + 1].map { ContactLimit.admitted(1, after: $0) }
        == [1, 1, 0, 0])
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive(try (0...scan).map { try phone.sighting($0) })
    #expect(try await device.contacts.sightings().count == scan)
  }

  @Test("A record decodes to the same sighting, and invalid records are rejected")
  func record() throws {
    let sighting = try phone.sighting(7)
    let record = StoredSighting(sighting).record
    #expect(record.count == StoredSighting.byteCount)
    #expect(StoredSighting(record)?.sighting == sighting)
    #expect(StoredSighting(record.dropLast()) == nil)
    #expect(StoredSighting(record + [0]) == nil)
    #expect(StoredSighting(Data([2]) + record.dropFirst()) == nil)
  }

  // Damaged files.

  /// A device with three scans, of which the second is damaged.
  private func damaged() async throws -> (Device, kept: [Sighting]) {
    let device = phone.device()
    try await device.setEnabled(true)
    let scans = try (1...3).map { try phone.sighting($0) }
    var sizes: [Int] = []
    for scan in scans {
      await phone.radio.receive([scan])
      sizes.append(try Data(contentsOf: folder.path(segment)).count)
    }
    var bytes = try Data(contentsOf: folder.path(segment))
    bytes[(sizes[0] + sizes[1]) / 2] ^= 1
    try bytes.write(to: folder.path(segment))
    return (device, [scans[0], scans[2]])
  }

  private var names: Set<String> { Set(folder.files().map(\.lastPathComponent)) }

  @Test("A damaged day is set aside and logged once, and its readable sightings are kept")
  func setAside() async throws {
    let (device, kept) = try await damaged()
    let before = try Data(contentsOf: folder.path(segment))
    #expect(try await device.contacts.sightings() == kept)
    #expect(try Data(contentsOf: folder.path(segment + ".damaged")) == before)
    let repaired = try Data(contentsOf: folder.path(segment))
    #expect(repaired.count < before.count)
    #expect(phone.log.errors.count == 1)
    #expect(phone.log.errors.first?.hasPrefix("Encounters of 2020-06-15 were damaged") == true)
    #expect(device.storageDamage.map(\.part) == [.contacts])
    #expect(device.storageDamage.first?.day == Day(of: TestPhone.noon).midnight)

    #expect(try await phone.device().contacts.sightings() == kept)
    #expect(phone.log.errors.count == 1)
    let fourth = try phone.sighting(4)
    await phone.radio.receive([fourth])
    #expect(try await phone.device().contacts.sightings() == kept + [fourth])
  }

  @Test("A damaged segment is removed with its day")
  func removal() async throws {
    let (device, _) = try await damaged()
    _ = try await device.contacts.sightings()
    #expect(names.contains("18428.sealed.damaged"))
    await phone.run(device, days: 15)
    #expect(!names.contains("18428.sealed.damaged") && !names.contains("18428.sealed"))
  }

  @Test("Removing all data removes damaged segments")
  func removalOfAll() async throws {
    let (device, _) = try await damaged()
    _ = try await device.contacts.sightings()
    try await device.removeAllData()
    #expect(segments().isEmpty)
  }

  @Test("A segment that is larger than any append makes it is set aside")
  func oversized() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive([try phone.sighting(1)])
    let file = try FileHandle(forWritingTo: folder.path(segment))
    try file.truncate(atOffset: UInt64(SealedLog.segmentBytesMax) + 1)
    #expect(try await device.contacts.sightings().isEmpty)
    #expect(names.contains("18428.sealed.damaged"))
  }

  @Test("A segment of random bytes is set aside, and new sightings are stored")
  func noise() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive([try phone.sighting(1)])
    try Data(repeating: 0x5a, count: 5_000).write(to: folder.path(segment))
    #expect(try await device.contacts.sightings().isEmpty)
    let next = try phone.sighting(2)
    await phone.radio.receive([next])
    #expect(try await device.contacts.sightings() == [next])
    #expect(names.contains("18428.sealed.damaged"))
  }

  @Test("A detection fails if the contacts cannot be read")
  func unreadable() async throws {
    let manager = try await phone.enabledManager()
    try Data().write(to: folder.path("contacts"))
    let error = await #expect(throws: ENError.self) { _ = try await manager.detect([]) }
    #expect(error?.code == .dataInaccessible)
  }

  // Losses that leave nothing damaged.

  @Test(
    "A removed, emptied or cut segment is reported once, by the next detection",
    arguments: ["removed", "emptied", "cut"])
  func lost(_ loss: String) async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive([try phone.sighting(1)])
    let first = try Data(contentsOf: folder.path(segment))
    await phone.radio.receive([try phone.sighting(2)])
    switch loss {
    case "removed": try FileManager.default.removeItem(at: folder.path(segment))
    case "emptied": try Data().write(to: folder.path(segment))
    default: try first.write(to: folder.path(segment))
    }
    let restarted = phone.device()
    #expect(try await restarted.contacts.sightings().count == (loss == "cut" ? 1 : 0))
    #expect(restarted.storageDamage.map(\.part) == [.contacts])
    #expect(restarted.storageDamage.first?.day == Day(of: TestPhone.noon).midnight)
    _ = try await phone.device().contacts.sightings()
    #expect(phone.log.errors.count == 1)
    // The loss of the next day is another one.
    await phone.run(restarted, days: 1)
    await phone.radio.receive([try phone.sighting(3)])
    try FileManager.default.removeItem(at: folder.path("contacts/18429.sealed"))
    for _ in 1...2 {
      let again = phone.device()
      #expect(try await again.contacts.sightings().count == (loss == "cut" ? 1 : 0))
      #expect(again.storageDamage.map(\.part) == [.contacts, .contacts])
    }
    #expect(phone.log.errors.count == 2)
  }

  // Floods.

  @Test("A sighting without a signal strength is not stored")
  func withoutStrength() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    let measured = try phone.sighting(1)
    let unknown = Sighting(
      advertisement: try phone.sighting(2).advertisement, time: phone.clock.now,
      signalStrength: 127)
    await phone.radio.receive([unknown, measured])
    #expect(try await device.contacts.sightings() == [measured])
    #expect(try await device.droppedSightings() == 0)
  }

  @Test("A rationed scan keeps one copy of each identifier, the nearest first")
  func rationed() throws {
    func copies(_ number: Int, _ strengths: [Int8]) throws -> [Sighting] {
      try strengths.map {
        Sighting(
          advertisement: try phone.sighting(number).advertisement, time: phone.clock.now,
          signalStrength: $0)
      }
    }
    let scan = try copies(1, [-40, -41, -42]) + copies(2, [-90]) + copies(3, [-60, -50])
    func strengths(_ limit: Int) -> [Int8] {
      ScanAdmission.admitted(scan, atMost: limit).map(\.signalStrength)
    }
    #expect(strengths(2) == [-40, -50])
    #expect(strengths(3) == [-40, -90, -50])
    #expect(strengths(4) == [-40, -41, -90, -50])
    #expect(strengths(6) == [-40, -41, -42, -90, -60, -50])
    let max = ContactLimit.copiesPerIdentifier
    for count in [max - 1, max, max + 1] {
      let repeated = try copies(1, [Int8](repeating: -40, count: count))
      #expect(ScanAdmission.admitted(repeated, atMost: 10_000).count == min(count, max))
    }
  }

  @Test("After half of a day's sightings, each scan gets a part of the rest")
  func rations() {
    let (half, day) = (ContactLimit.unrationedPerDay, ContactLimit.sightingsPerDay)
    #expect(ContactLimit.admitted(5_000, after: half - 1) == 5_000)
    #expect(ContactLimit.admitted(5_000, after: half) == (day - half) / 100)
    #expect(ContactLimit.admitted(5_000, after: day - 1_000) == ContactLimit.leastRation)
    #expect(ContactLimit.admitted(5_000, after: day - 3) == 3)
    #expect(ContactLimit.admitted(5_000, after: day) == 0)
  }

  @Test("Scans that are stored at once are all counted, those that exceed the limit too")
  func atOnce() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    // The day is counted once before.
    #expect(try await device.droppedSightings() == 0)
    let (limit, excess, scans) = (ContactLimit.sightingsPerScan, 5, 4)
    let received = try (0..<scans).map { scan in
      Scan(
        time: phone.clock.now,
        sightings: try (0..<limit + excess).map { try phone.sighting(scan * 20_000 + $0) })
    }
    await withTaskGroup(of: Void.self) { group in
      for scan in received { group.addTask { await device.contacts.receive(scan) } }
    }
    #expect(try await device.droppedSightings() == scans * excess)
    #expect(try await phone.device().droppedSightings() == scans * excess)
  }

  @Test("A flood leaves space for a meeting, and what was dropped is known after a restart")
  func flood() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    let scan = ContactLimit.sightingsPerScan
    let scans = ContactLimit.unrationedPerDay / scan + 3
    for number in 0..<scans {
      await phone.radio.receive(
        try (number * scan..<(number + 1) * scan).map { try phone.sighting($0) })
      phone.clock.advance(by: 10)
    }
    let friend = Sighting(
      advertisement: try phone.sighting(900_000).advertisement, time: phone.clock.now,
      signalStrength: -40)
    await phone.radio.receive(
      try (800_000..<800_000 + scan).map { try phone.sighting($0) } + [friend])
    let stored = try await device.contacts.sightings()
    #expect(stored.contains(friend))
    let received = (scans + 1) * scan + 1
    #expect(try await device.droppedSightings() == received - stored.count)
    #expect(try await phone.device().droppedSightings() == received - stored.count)
    // The next day has a limit of its own.
    await phone.run(device, days: 1)
    let next = try (0..<scan).map { try phone.sighting($0) }
    await phone.radio.receive(next)
    #expect(try await device.contacts.sightings() == stored + next)
    #expect(try await device.droppedSightings() == received - stored.count)
    await phone.run(device, days: 16)
    #expect(try await device.droppedSightings() == 0)
  }
}

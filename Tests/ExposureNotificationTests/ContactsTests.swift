import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 4.
@Suite struct ContactsTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  private func segments() -> [String] {
    folder.files().filter { $0.path.contains("/contacts/") }.map(\.lastPathComponent).sorted()
  }

  @Test("What was heard is there after a restart, bit for bit")
  func restart() async throws {
    try await phone.device().setEnabled(true)
    let device = phone.device()
    await device.beat()
    let heard = [try phone.sighting(1), try phone.sighting(2, at: phone.clock.now + 0.125)]
    await phone.radio.hear(heard)
    #expect(try await phone.device().contacts.sightings() == heard)
  }

  @Test("Days go into segments of their own, and a day older than 14 days loses its segment")
  func retention() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    for day in 0..<3 {
      await phone.radio.hear([try phone.sighting(day)])
      phone.clock.move(by: TestPhone.day)
      await device.beat()
    }
    #expect(segments() == ["18428.sealed", "18429.sealed", "18430.sealed"])
    phone.clock.move(to: TestPhone.noon + 14 * TestPhone.day)
    await device.beat()
    #expect(segments().count == 3)
    phone.clock.move(by: TestPhone.day)
    await device.beat()
    #expect(segments() == ["18429.sealed", "18430.sealed"])
    #expect(try await device.contacts.sightings().count == 2)
  }

  @Test("Nothing is kept of another time, nor while switched off")
  func notKept() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    for days in [-15.0, 2] {
      await phone.radio.hear([try phone.sighting(at: phone.clock.now + days * TestPhone.day)])
    }
    #expect(try await device.contacts.sightings().isEmpty)
    try await device.setEnabled(false)
    #expect(!phone.radio.isListening)
    await device.contacts.hear([try phone.sighting()])
    #expect(try await device.contacts.sightings().isEmpty)
  }

  @Test(
    "On a full disk the scan is lost, nothing is half-written, and the next one is kept",
    .enabled(if: SmallDisk.isAvailable, Comment(rawValue: SmallDisk.absence)))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    let phone = TestPhone(in: disk.url.appendingPathComponent("phone"))
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.hear([try phone.sighting(1)])
    let ballast = disk.fill()
    await phone.radio.hear(try (2...500).map { try phone.sighting($0) })
    #expect(try await phone.device().contacts.sightings().count == 1)
    try FileManager.default.removeItem(at: ballast)
    let last = try phone.sighting(501)
    await phone.radio.hear([last])
    #expect(try await phone.device().contacts.sightings() == [try phone.sighting(1), last])
  }

  @Test("A scan and a day hold so much and no more")
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
    await phone.radio.hear(try (0...scan).map { try phone.sighting($0) })
    #expect(try await device.contacts.sightings().count == scan)
  }

  @Test("Thirty bytes in, the same sighting out; other bytes are no sighting")
  func record() throws {
    let sighting = try phone.sighting(7)
    let record = StoredSighting(sighting).record
    #expect(record.count == StoredSighting.byteCount)
    #expect(StoredSighting(record)?.sighting == sighting)
    #expect(StoredSighting(record.dropLast()) == nil)
    #expect(StoredSighting(record + [0]) == nil)
    #expect(StoredSighting(Data([2]) + record.dropFirst()) == nil)
  }
}

import ExposureKeys
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 4.6.
@Suite struct ContactDamageTests {
  let folder: TemporaryFolder
  let phone: TestPhone
  let segment = "contacts/18428.sealed"

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  /// A phone with three scans, of which the middle one does not open.
  private func damaged() async throws -> (Device, kept: [Sighting]) {
    let device = phone.device()
    try await device.setEnabled(true)
    let scans = try (1...3).map { try phone.sighting($0) }
    var sizes: [Int] = []
    for scan in scans {
      await phone.radio.hear([scan])
      sizes.append(try Data(contentsOf: folder.path(segment)).count)
    }
    var bytes = try Data(contentsOf: folder.path(segment))
    bytes[(sizes[0] + sizes[1]) / 2] ^= 1
    try bytes.write(to: folder.path(segment))
    return (device, [scans[0], scans[2]])
  }

  private var names: Set<String> { Set(folder.files().map(\.lastPathComponent)) }

  @Test("A damaged day is set aside and reported once, and goes on with all that is readable")
  func setAside() async throws {
    let (device, kept) = try await damaged()
    let before = try Data(contentsOf: folder.path(segment))
    #expect(try await device.contacts.sightings() == kept)
    #expect(try Data(contentsOf: folder.path(segment + ".damaged")) == before)
    let repaired = try Data(contentsOf: folder.path(segment))
    #expect(repaired.count < before.count)
    #expect(phone.log.errors.count == 1)
    #expect(phone.log.errors.first?.contains("1 scans of day 18428 are damaged") == true)

    #expect(try await phone.device().contacts.sightings() == kept)
    #expect(phone.log.errors.count == 1)
    let fourth = try phone.sighting(4)
    await phone.radio.hear([fourth])
    #expect(try await phone.device().contacts.sightings() == kept + [fourth])
  }

  @Test("What was set aside goes with its day, and with the removal of all data")
  func removal() async throws {
    let (device, _) = try await damaged()
    _ = try await device.contacts.sightings()
    #expect(names.contains("18428.sealed.damaged"))
    phone.clock.move(by: 15 * TestPhone.day)
    await device.beat()
    #expect(!names.contains("18428.sealed.damaged") && !names.contains("18428.sealed"))
  }

  @Test("Removal of all data leaves no damaged day")
  func removalOfAll() async throws {
    let (device, _) = try await damaged()
    _ = try await device.contacts.sightings()
    try await device.removeAllData()
    #expect(!names.contains { $0.contains("18428") })
  }

  @Test("A day of nothing but noise is set aside, and the phone hears on")
  func noise() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.hear([try phone.sighting(1)])
    try Data(repeating: 0x5a, count: 5_000).write(to: folder.path(segment))
    #expect(try await device.contacts.sightings().isEmpty)
    let next = try phone.sighting(2)
    await phone.radio.hear([next])
    #expect(try await device.contacts.sightings() == [next])
    #expect(names.contains("18428.sealed.damaged"))
  }

  @Test("Contacts that cannot be read at all end a detection: silence is not safety")
  func unreadable() async throws {
    let manager = try await phone.enabledManager()
    try Data().write(to: folder.path("contacts"))
    await #expect(throws: ENError(.dataInaccessible)) { _ = try await manager.detect([]) }
  }
}

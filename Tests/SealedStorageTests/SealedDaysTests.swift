// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TestSupport
import Testing
import World

@Suite("Sealed days")
struct SealedDaysTests {
  let folder: TemporaryFolder
  let key = SealingKey(from: SystemRandomness())

  init() throws { folder = try TemporaryFolder() }

  private var days: SealedDays {
    SealedDays(
      folder: folder.path("days"), key: key, purpose: "test", randomness: SystemRandomness())
  }

  private var names: [String] { folder.files().map(\.lastPathComponent).sorted() }

  @Test("Each day has its own content, and the days are listed in order")
  func content() throws {
    #expect(try days.days().isEmpty && days.read(7) == nil)
    for day: UInt32 in [10, 9, .max, 0] { try days.replace(day, with: Data("\(day)".utf8)) }
    #expect(try days.days() == [0, 9, 10, .max])
    try days.replace(9, with: Data("new".utf8))
    #expect(try days.read(9) == Data("new".utf8))
    #expect(try days.read(10) == Data("10".utf8))
  }

  @Test("Days are removed on a full disk", .needs(.smallDisk))
  func removalOnFullDisk() throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let days = SealedDays(
      folder: disk.url.appendingPathComponent("days"), key: key, purpose: "test",
      randomness: SystemRandomness())
    for day: UInt32 in 1...3 { try days.replace(day, with: Data(count: 8_000)) }
    let ballast = disk.fill()
    try days.removeDays { $0 < 3 }
    #expect(try days.days() == [3])
    try FileManager.default.removeItem(at: ballast)
    #expect(try days.read(3) == Data(count: 8_000))
  }

  @Test("Damage to one day leaves the others readable, and the damaged file is set aside")
  func damage() throws {
    for day: UInt32 in [1, 2] { try days.replace(day, with: Data("\(day)".utf8)) }
    try Data(count: 40).write(to: folder.path("days/1.sealed"))
    #expect(throws: SealedStorageError.damaged) { try days.read(1) }
    #expect(try days.read(2) == Data("2".utf8))
    try days.setAside(1)
    #expect(try days.days() == [2])
    #expect(names == ["1.sealed.damaged", "2.sealed", "days.sizes"])
  }

  @Test("A file with the name of another day is damaged")
  func moved() throws {
    try days.replace(1, with: Data("1".utf8))
    try FileManager.default.moveItem(
      at: folder.path("days/1.sealed"), to: folder.path("days/2.sealed"))
    #expect(throws: SealedStorageError.damaged) { try days.read(2) }
  }

  @Test("Removing days takes their damaged files, and removing all takes leftovers")
  func removal() throws {
    for day: UInt32 in [1, 2, 3] { try days.replace(day, with: Data()) }
    for day: UInt32 in [1, 2] { try days.setAside(day) }
    try days.replace(2, with: Data())
    try Data().write(to: folder.path("days/.4.sealed.unfinished-a1B2c3"))
    try days.removeDays { $0 < 2 }
    #expect(
      names == [
        ".4.sealed.unfinished-a1B2c3", "2.sealed", "2.sealed.damaged", "3.sealed", "days.sizes",
      ])
    try days.removeAll()
    #expect(names.isEmpty)
  }
}

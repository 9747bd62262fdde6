// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TestSupport
import Testing
import World

@Suite("Sealed log")
struct SealedLogTests {
  let folder: TemporaryFolder
  let key = SealingKey(from: SystemRandomness())

  init() throws { folder = try TemporaryFolder() }

  private func log(purpose: String = "test", key: SealingKey? = nil) -> SealedLog {
    SealedLog(
      folder: folder.path("log"), key: key ?? self.key, purpose: purpose,
      randomness: SystemRandomness())
  }

  private func url(_ day: UInt32) -> URL { folder.path("log/\(day).sealed") }

  private var sizes: URL { folder.path("log.sizes") }

  private func record(_ text: String) -> Data { Data(text.utf8) }

  @Test("Records are returned in the order of the appends, also after a restart")
  func roundTrip() async throws {
    let log = log()
    try await log.append([record("a"), record(""), record("b")], day: 7)
    try await log.append([record("c")], day: 7)
    try await log.append([], day: 9)
    let later = self.log()
    try await later.append([record("d")], day: 7)
    for reader in [log, later, self.log()] {
      let segment = try await reader.segment(of: 7)
      #expect(segment.records == [record("a"), record(""), record("b"), record("c"), record("d")])
      #expect(segment.damagedFrames == 0)
    }
    #expect(try await log.days() == [7])
  }

  @Test("Two logs that append to one folder in turn do not damage each other")
  func takingTurns() async throws {
    let one = log()
    let two = log()
    for number in 0..<6 {
      try await (number % 2 == 0 ? one : two).append([record("\(number)")], day: 1)
    }
    let segment = try await log().segment(of: 1)
    #expect(segment.records == (0..<6).map { record("\($0)") })
    #expect(segment.damagedFrames == 0)
  }

  @Test("A log whose folder was removed between two appends goes on, and reports the loss")
  func removedFolder() async throws {
    let log = log()
    try await log.append([record("lost")], day: 7)
    try FileManager.default.removeItem(at: folder.path("log"))
    try await log.append([record("kept")], day: 7)
    let segment = try await log.segment(of: 7)
    #expect(segment.records == [record("kept")])
    #expect(segment.damagedFrames == 1)
    #expect(try await self.log().segment(of: 7).records == [record("kept")])
  }

  @Test("A day without a segment is empty")
  func absent() async throws {
    #expect(try await log().segment(of: 3).records.isEmpty)
    #expect(try await log().days().isEmpty)
    try await log().removeDays { $0 < 100 }
    try await log().removeAll()
  }

  @Test("A frame cannot be decrypted with another key or purpose")
  func wrongKey() async throws {
    try await log().append([record("a")], day: 7)
    for other in [log(key: SealingKey(from: SystemRandomness())), log(purpose: "other")] {
      let segment = try await other.segment(of: 7)
      #expect(segment.records.isEmpty)
      #expect(segment.damagedFrames == 1)
    }
  }

  @Test("Any inverted bit costs one frame and no other, and appends still work")
  func bitFlips() async throws {
    let texts = ["first", "second", "third"]
    for text in texts { try await log().append([record(text)], day: 7) }
    let whole = try Data(contentsOf: url(7))
    for index in whole.indices {
      var turned = whole
      turned[index] ^= 1 << (index % 8)
      try turned.write(to: url(7))
      let reader = log()
      let segment = try await reader.segment(of: 7)
      #expect(segment.damagedFrames == 1)
      #expect(segment.records.count == 2)
      try await reader.append([record("fourth")], day: 7)
      #expect(try await reader.segment(of: 7).records.count == 3)
    }
  }

  @Test("A damaged header costs one frame, even if the end of the box looks like a header")
  func lookalike() async throws {
    var last: UInt8 = 0
    // One box in 256 ends with this byte.
    for _ in 0..<20_000 where last != 0xff {
      try? FileManager.default.removeItem(at: url(7))
      try await log().append([record("first")], day: 7)
      last = try Data(contentsOf: url(7)).last ?? 0
    }
    try #require(last == 0xff)
    var turned = try Data(contentsOf: url(7))
    turned[0] ^= 1
    try turned.write(to: url(7))
    for count in 1...3 {
      try await log().append([record("next")], day: 7)
      #expect(try await log().segment(of: 7).records.count == count)
    }
  }

  @Test("An incomplete frame after a power failure is removed by the next append")
  func halfWrittenTail() async throws {
    try await log().append([record("first")], day: 7)
    let one = try Data(contentsOf: url(7))
    let sizes = try Data(contentsOf: self.sizes)
    try await log().append([record("second")], day: 7)
    let two = try Data(contentsOf: url(7))
    for length in one.count..<two.count {
      // The size of the second frame is stored after the frame.
      try sizes.write(to: self.sizes)
      try two.prefix(length).write(to: url(7))
      let log = log()
      #expect(try await log.segment(of: 7).records == [record("first")])
      try await log.append([record("again")], day: 7)
      let segment = try await log.segment(of: 7)
      #expect(segment.records == [record("first"), record("again")])
      #expect(segment.damagedFrames == 0)
    }
  }

  @Test("A frame moved within a day, to another day or duplicated cannot be decrypted")
  func movedFrames() async throws {
    try await log().append([record("a")], day: 7)
    let first = try Data(contentsOf: url(7))
    try await log().append([record("b")], day: 7)
    let both = try Data(contentsOf: url(7))
    let second = both.dropFirst(first.count)
    try Data(second + first).write(to: url(7))
    #expect(try await log().segment(of: 7).damagedFrames == 2)
    try Data(first + first).write(to: url(7))
    #expect(try await log().segment(of: 7).records == [record("a")])
    #expect(try await log().segment(of: 7).damagedFrames == 1)
    try both.write(to: url(8))
    #expect(try await log().segment(of: 8).records.isEmpty)
  }

  @Test("A foreign file counts as damage, and appends still work", arguments: [0, 7, 8, 9, 5_000])
  func garbage(_ count: Int) async throws {
    try FileManager.default.createDirectory(
      at: folder.path("log"), withIntermediateDirectories: true)
    for bytes in [SystemRandomness().bytes(count), Array(repeating: 0, count: count)] {
      try Data(bytes).write(to: url(7))
      let log = log()
      #expect(try await log.segment(of: 7).records.isEmpty)
      try await log.append([record("new")], day: 7)
      #expect(try await log.segment(of: 7).records == [record("new")])
    }
  }

  @Test("Removal takes the days that the caller names and keeps the others")
  func removal() async throws {
    let log = log()
    for day: UInt32 in [0, 5, 6, 7, .max] { try await log.append([record("\(day)")], day: day) }
    try await log.removeDays { $0 < 6 }
    #expect(try await log.days() == [6, 7, .max])
    try await log.append([record("new")], day: 5)
    #expect(try await log.segment(of: 5).records == [record("new")])
    try await log.removeAll()
    #expect(try await log.days().isEmpty)
    #expect(folder.files().isEmpty)
  }

  @Test("Removal of a day takes its damaged segment and leftovers of interrupted writes")
  func removalOfLeftovers() async throws {
    let log = log()
    for day: UInt32 in [6, 7] { try await log.append([record("\(day)")], day: day) }
    for day in [6, 7] {
      for name in ["\(day).sealed.damaged", ".\(day).sealed.unfinished-a1B2c3"] {
        try Data("old".utf8).write(to: folder.path("log/\(name)"))
      }
    }
    #expect(try await log.days() == [6, 7])
    try await log.removeDays { $0 < 7 }
    let left = folder.files().map(\.lastPathComponent).sorted()
    #expect(
      left == [".7.sealed.unfinished-a1B2c3", "7.sealed", "7.sealed.damaged", "log.sizes"])
    try await log.removeAll()
    #expect(folder.files().isEmpty)
  }

  @Test("Only the owner can read a segment, and its content is not readable on the disk")
  func nothingReadable() async throws {
    try await log().append([record("a person, a place")], day: 7)
    let facts = try FileManager.default.attributesOfItem(atPath: url(7).path)
    #expect(try #require(facts[.posixPermissions] as? NSNumber).intValue == 0o600)
    let log = try FileManager.default.attributesOfItem(atPath: folder.path("log").path)
    #expect(try #require(log[.posixPermissions] as? NSNumber).intValue == 0o700)
    for file in folder.files() {
      #expect(try Data(contentsOf: file).range(of: record("person")) == nil)
    }
  }

  @Test("A frame up to the limit is stored, a larger one is rejected")
  func frameLimit() async throws {
    let log = log()
    // The frame includes a record's length and the box's nonce and tag.
    let room = SealedLog.frameBytesMax - 4 - 28
    try await log.append([Data(count: room - 1)], day: 1)
    try await log.append([Data(count: room)], day: 1)
    await #expect(throws: SealedStorageError.tooLarge) {
      try await log.append([Data(count: room + 1)], day: 1)
    }
    #expect(try await log.segment(of: 1).records.map(\.count) == [room - 1, room])
  }

  @Test("A segment up to its limit is stored and stays readable; more is rejected")
  func segmentLimit() async throws {
    let log = log()
    let frame = Data(count: SealedLog.frameBytesMax - 40)
    await #expect(throws: SealedStorageError.tooLarge) {
      for _ in 0...17 { try await log.append([frame], day: 1) }
    }
    #expect(try await log.segment(of: 1).records.count == 16)
    try await log.append([record("another day")], day: 2)
  }

  @Test("Concurrent appends are all stored, each complete")
  func concurrent() async throws {
    let log = log()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          try await log.append([Data("\(number)".utf8), Data("\(number)".utf8)], day: 1)
        }
      }
      try await group.waitForAll()
    }
    let records = try await log.segment(of: 1).records
    #expect(Set(records) == Set((0..<100).map { record("\($0)") }))
    for index in stride(from: 0, to: 200, by: 2) { #expect(records[index] == records[index + 1]) }
  }

  @Test("An append does not read the existing segment if the log knows its size")
  func appendsWithoutReading() async throws {
    let log = log()
    try await log.append([record("first")], day: 1)
    let whole = try Data(contentsOf: url(1))
    // If the segment were read again, its end would look incomplete and be removed.
    var stump = whole
    stump.replaceSubrange(0..<8, with: [0, 1, 0, 0, 255, 254, 255, 255])
    try stump.write(to: url(1))
    try await log.append([record("second")], day: 1)
    try (whole + Data(contentsOf: url(1)).dropFirst(whole.count)).write(to: url(1))
    #expect(try await log.segment(of: 1).records == [record("first"), record("second")])
  }

  @Test(
    "A full disk rejects an append and keeps the records, and the next append succeeds when there is space",
    .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let log = SealedLog(
      folder: disk.url.appendingPathComponent("log"), key: key, purpose: "test",
      randomness: SystemRandomness())
    try await log.append([record("old")], day: 1)
    let ballast = disk.fill()
    for day: UInt32 in [1, 2] {
      await #expect(throws: SealedStorageError.full) {
        try await log.append([Data(count: 20_000)], day: day)
      }
    }
    #expect(try await log.segment(of: 1).records == [record("old")])
    #expect(try await log.segment(of: 1).damagedFrames == 0)
    try FileManager.default.removeItem(at: ballast)
    try await log.append([record("new")], day: 1)
    #expect(try await log.segment(of: 1).records == [record("old"), record("new")])
  }

  @Test(
    "On a full disk a damaged day is not set aside and stays unchanged, and is set aside later",
    .needs(.smallDisk))
  func damageOnAFullDisk() async throws {
    let disk = try SmallDisk(bytes: 512 << 10)
    let folder = disk.url.appendingPathComponent("log")
    let log = SealedLog(folder: folder, key: key, purpose: "test", randomness: SystemRandomness())
    for letter in ["a", "b"] {
      try await log.append([Data(repeating: letter.utf8.first ?? 0, count: 50_000)], day: 7)
    }
    let url = folder.appendingPathComponent("7.sealed")
    var bytes = try Data(contentsOf: url)
    bytes[100] ^= 1
    try bytes.write(to: url)
    let ballast = disk.fill()
    await #expect(throws: SealedStorageError.full) { try await log.setDamageAside(of: 7) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["7.sealed"])
    #expect(try Data(contentsOf: url) == bytes)
    try FileManager.default.removeItem(at: ballast)
    try await log.setDamageAside(of: 7)
    let aside = url.appendingPathExtension("damaged")
    #expect(try Data(contentsOf: aside) == bytes)
    let segment = try await log.segment(of: 7)
    #expect(segment.damagedFrames == 0 && segment.records.map(\.count) == [50_000])
  }
}

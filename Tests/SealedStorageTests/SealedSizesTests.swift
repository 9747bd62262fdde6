// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TestSupport
import Testing
import World

/// Losses that leave no byte that cannot be decrypted.
@Suite("Sealed sizes")
struct SealedSizesTests {
  let folder: TemporaryFolder
  let key = SealingKey(from: SystemRandomness())

  init() throws { folder = try TemporaryFolder() }

  private var log: SealedLog {
    SealedLog(
      folder: folder.path("log"), key: key, purpose: "test", randomness: SystemRandomness())
  }

  private var days: SealedDays {
    SealedDays(
      folder: folder.path("days"), key: key, purpose: "test", randomness: SystemRandomness())
  }

  private func url(_ day: UInt32) -> URL { folder.path("log/\(day).sealed") }

  /// A way in which a segment of two frames loses content.
  enum Loss: CaseIterable {
    case removed, emptied, cutAtFrame, cutInFrame, folderRemoved
  }

  /// Appends two frames to day 7 and loses a part of them.
  private func lose(_ loss: Loss, by log: SealedLog) async throws {
    try await log.append([Data("a".utf8)], day: 7)
    let first = try Data(contentsOf: url(7))
    try await log.append([Data("b".utf8)], day: 7)
    switch loss {
    case .removed: try FileManager.default.removeItem(at: url(7))
    case .emptied: try Data().write(to: url(7))
    case .cutAtFrame: try first.write(to: url(7))
    case .cutInFrame: try Data(contentsOf: url(7)).dropLast(3).write(to: url(7))
    case .folderRemoved: try FileManager.default.removeItem(at: folder.path("log"))
    }
  }

  @Test("A lost part of a segment is damage, until it was set aside", arguments: Loss.allCases)
  func lostFrames(_ loss: Loss) async throws {
    try await lose(loss, by: log)
    #expect(try await log.days() == [7])
    #expect(try await log.segment(of: 7).damagedFrames == 1)
    let log = log
    try await log.setDamageAside(of: 7)
    for reader in [log, self.log] {
      let segment = try await reader.segment(of: 7)
      #expect(segment.damagedFrames == 0)
      #expect(
        segment.records == ([.cutAtFrame, .cutInFrame].contains(loss) ? [Data("a".utf8)] : []))
    }
  }

  @Test("An append after the loss does not hide it", arguments: Loss.allCases, [true, false])
  func appendAfterLoss(_ loss: Loss, isSameProcess: Bool) async throws {
    let running = log
    try await lose(loss, by: running)
    let next = isSameProcess ? running : log
    for text in ["c", "d"] { try await next.append([Data(text.utf8)], day: 7) }
    let segment = try await log.segment(of: 7)
    #expect(segment.damagedFrames == 1)
    #expect(segment.records.suffix(2) == [Data("c".utf8), Data("d".utf8)])
  }

  @Test("With a damaged record of sizes, every segment may be incomplete")
  func damagedRecord() async throws {
    for day: UInt32 in [1, 2] { try await log.append([Data("a".utf8)], day: day) }
    try Data(count: 50).write(to: folder.path("log.sizes"))
    for day: UInt32 in [1, 2] { #expect(try await log.segment(of: day).damagedFrames == 1) }
  }

  @Test("An empty record of sizes, as after a power failure, is the same as none")
  func emptyRecord() async throws {
    try await log.append([Data("a".utf8)], day: 1)
    try Data().write(to: folder.path("log.sizes"))
    #expect(try await log.segment(of: 1).damagedFrames == 0)
    try await log.append([Data("b".utf8)], day: 2)
    try FileManager.default.removeItem(at: url(1))
    #expect(try await log.segment(of: 1).damagedFrames == 1)
  }

  @Test("Segments without a record of sizes, of an earlier version, are complete")
  func earlierVersion() async throws {
    try await log.append([Data("a".utf8)], day: 1)
    try FileManager.default.removeItem(at: folder.path("log.sizes"))
    #expect(try await log.segment(of: 1).damagedFrames == 0)
    try await log.append([Data("b".utf8)], day: 2)
    try FileManager.default.removeItem(at: url(1))
    #expect(try await log.segment(of: 1).damagedFrames == 1)
  }

  @Test("A removed day is no loss")
  func removedDay() async throws {
    try await log.append([Data("a".utf8)], day: 1)
    try await log.append([Data("a".utf8)], day: 2)
    try await log.removeDays { $0 == 1 }
    #expect(try await log.days() == [2])
    try await log.removeAll()
    #expect(try await log.days().isEmpty && folder.files().isEmpty)
  }

  @Test(
    "A file of a day that was removed or replaced by a shorter one is damaged, and then forgotten")
  func lostFile() throws {
    for day: UInt32 in [1, 2, 3] { try days.replace(day, with: Data(count: 10)) }
    try FileManager.default.removeItem(at: folder.path("days/2.sealed"))
    let old = try Data(contentsOf: folder.path("days/3.sealed"))
    try days.replace(3, with: Data(count: 20))
    try old.write(to: folder.path("days/3.sealed"))
    #expect(try days.days() == [1, 2, 3])
    for day: UInt32 in [2, 3] {
      #expect(throws: SealedStorageError.damaged) { try days.read(day) }
      try days.setAside(day)
      #expect(try days.read(day) == nil)
    }
    #expect(try days.days() == [1])
    try days.replace(1, with: Data(count: 5))
    #expect(try days.read(1)?.count == 5)
  }

  @Test("A damaged record of the sizes of days is restored once")
  func restored() throws {
    try days.replace(1, with: Data(count: 10))
    #expect(try !days.restoreSizes())
    try Data(count: 50).write(to: folder.path("days.sizes"))
    #expect(try days.read(1)?.count == 10)
    #expect(try days.restoreSizes())
    #expect(try !days.restoreSizes())
    try FileManager.default.removeItem(at: folder.path("days/1.sealed"))
    #expect(throws: SealedStorageError.damaged) { try days.read(1) }
  }
}

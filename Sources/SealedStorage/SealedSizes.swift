// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The sizes of the files of all days, sealed in a file beside their folder.
///
/// Decryption detects a file that was changed, but not one that was removed, emptied or cut between two frames. Such
/// a file is shorter than its size here. A file is written before its size, so after a kill between the two a file
/// may be longer, which is not a loss.
struct SealedSizes: Sendable {
  /// The recorded state of the file of one day.
  struct Entry: Equatable, Sendable {
    /// The least size of the file, in bytes.
    var bytes: Int
    /// True if a part of the file was lost before its last change.
    var isIncomplete = false
  }

  private let url: URL
  private let file: SealedFile

  /// The sizes of the files in `folder`. Nothing is read or created yet.
  init(of folder: URL, key: SealingKey, purpose: String, randomness: any Randomness) {
    url = folder.appendingPathExtension("sizes")
    file = SealedFile(
      url: url, key: key, purpose: purpose + " sizes", randomness: randomness)
  }

  /// The recorded sizes by day; nil if nothing was recorded, or if a power failure left an empty file.
  ///
  /// - Throws: `.damaged` if the file cannot be decrypted, `.disk` if it cannot be read.
  func read() throws(SealedStorageError) -> [UInt32: Entry]? {
    guard try Disk.size(of: url) > 0, let content = try file.read() else { return nil }
    guard content.count % Self.recordBytes == 0 else { throw .damaged }
    return Dictionary(
      stride(from: content.startIndex, to: content.endIndex, by: Self.recordBytes).map { start in
        Self.entry(in: content[start..<start + Self.recordBytes])
      }, uniquingKeysWith: { _, last in last })
  }

  /// Replaces all sizes. Throws like `SealedFile.replace`.
  ///
  /// If all `earlier` sizes have only grown, the file is not synced: after a power failure the earlier ones, or none,
  /// are as true. So an append to a log costs one sync and not three.
  func replace(
    with entries: [UInt32: Entry], after earlier: [UInt32: Entry]? = nil
  ) throws(SealedStorageError) {
    let hasOnlyGrown = earlier?.allSatisfy { day, old in
      entries[day].map { $0.bytes >= old.bytes && $0.isIncomplete == old.isIncomplete } ?? false
    }
    try file.replace(
      with: entries.sorted { $0.key < $1.key }.reduce(into: Data()) { content, next in
        content += Self.record(of: next.key, next.value)
      }, durability: hasOnlyGrown == true ? .unsynced : .synced)
  }

  /// Returns `true` if `entries` have to be stored: others are recorded, or none and `entries` has some.
  func differ(from entries: [UInt32: Entry]) throws(SealedStorageError) -> Bool {
    do throws(SealedStorageError) {
      return try read() ?? [:] != entries
    } catch .damaged {
      return true
    }
  }

  /// Removes the file.
  func remove() throws(SealedStorageError) {
    try file.remove()
  }

  /// A record: the day (32 bits), the size (64 bits), both little endian, and 1 if the file is incomplete.
  private static let recordBytes = 13

  private static func record(of day: UInt32, _ entry: Entry) -> Data {
    let day = withUnsafeBytes(of: day.littleEndian) { Data($0) }
    let bytes = withUnsafeBytes(of: UInt64(entry.bytes).littleEndian) { Data($0) }
    return day + bytes + [entry.isIncomplete ? 1 : 0]
  }

  private static func entry(in record: Data) -> (UInt32, Entry) {
    let number = { (bytes: Data) in bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    let entry = Entry(
      bytes: Int(clamping: number(record.dropFirst(4).prefix(8))), isIncomplete: record.last != 0)
    return (UInt32(truncatingIfNeeded: number(record.prefix(4))), entry)
  }
}

import Foundation
import World

/// An append-only log of records in one sealed file a day.
///
/// A day is a number of the owner's choosing (here always days since 1970 in UTC), so that removing
/// a day is removing a file. Each append is one frame: its length in four bytes, little endian, then
/// an AES-GCM box bound to the log's purpose, the day and the frame's place; a frame changed, moved
/// or copied does not open. See Documentation/SealedStorage.md.
public actor SealedLog {
  /// The largest frame, in bytes; one append of one scan stays far below.
  public static let frameBytesMax = 4 << 20

  private let folder: URL
  private let seal: Seal
  /// The frames and bytes of each day's segment, as far as this process has looked at them.
  private var ends: [UInt32: SegmentEnd] = [:]

  /// The log in `folder`, sealed by `key` for `purpose`. Nothing is read or made yet.
  public init(folder: URL, key: SealingKey, purpose: String, randomness: any Randomness) {
    self.folder = folder
    seal = Seal(key: key, purpose: purpose, randomness: randomness)
  }

  /// Adds `records` to `day`, all of them or none; when this returns they are on the disk.
  ///
  /// - Throws: `.full` where there is no room, `.disk` where the disk refuses.
  public func append(_ records: [Data], day: UInt32) throws(SealedStorageError) {
    guard !records.isEmpty else { return }
    let end = try end(of: day)
    let box = try seal.seal(Frame.content(of: records), place: place(day, frame: end.frames))
    guard box.count <= Self.frameBytesMax else { throw .full }
    let frame = Frame.length(box.count) + box
    try Disk.makeFolder(folder)
    try Disk.append(frame, to: url(of: day))
    ends[day] = SegmentEnd(frames: end.frames + 1, bytes: end.bytes + frame.count)
  }

  /// The days that have a segment, oldest first.
  public func days() -> [UInt32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.compactMap { name in
      name.hasSuffix(Self.suffix) ? UInt32(name.dropLast(Self.suffix.count)) : nil
    }.sorted()
  }

  /// What is readable of `day`, oldest first; a damaged frame is left out and counted.
  ///
  /// - Throws: `.disk` where the segment cannot be read.
  public func segment(of day: UInt32) throws(SealedStorageError) -> LogSegment {
    var segment = LogSegment()
    let bytes = try Disk.read(url(of: day)) ?? Data()
    for (index, box) in Frame.boxes(in: bytes).boxes.enumerated() {
      guard let content = try? seal.open(box, place: place(day, frame: index)),
        let records = Frame.records(in: content)
      else {
        segment.damagedFrames += 1
        continue
      }
      segment.records += records
    }
    return segment
  }

  /// Removes every segment older than `day`.
  ///
  /// - Throws: `.disk` where a file cannot be removed.
  public func removeDays(before day: UInt32) throws(SealedStorageError) {
    for old in days() where old < day {
      try Disk.remove(url(of: old))
      ends[old] = nil
    }
  }

  /// Removes every segment.
  ///
  /// - Throws: `.disk` where a file cannot be removed.
  public func removeAll() throws(SealedStorageError) {
    try removeDays(before: .max)
  }

  private static let suffix = ".sealed"

  private func url(of day: UInt32) -> URL {
    folder.appendingPathComponent("\(day)\(Self.suffix)")
  }

  private func place(_ day: UInt32, frame: Int) -> String { "\(day)/\(frame)" }

  private func end(of day: UInt32) throws(SealedStorageError) -> SegmentEnd {
    if let known = ends[day] { return known }
    return try repairedEnd(of: day)
  }

  /// Where the segment ends; a frame that a power cut left half-written is cut off first.
  private func repairedEnd(of day: UInt32) throws(SealedStorageError) -> SegmentEnd {
    guard let bytes = try Disk.read(url(of: day)) else { return SegmentEnd(frames: 0, bytes: 0) }
    let found = Frame.boxes(in: bytes)
    if found.bytesRead < bytes.count { try Disk.truncate(url(of: day), to: found.bytesRead) }
    return SegmentEnd(frames: found.boxes.count, bytes: found.bytesRead)
  }
}

import Foundation
import World

/// An append-only log of records in one sealed file a day.
///
/// A day is a number of the owner's choosing (here always days since 1970 in UTC), so that removing
/// a day is removing a file. Each append is one frame, bound to the log's purpose, the day and its
/// place in the file: a frame changed, moved or copied does not open, and spoils no other. One
/// process at a time writes a log. See Documentation/SealedStorage.md 3.
public actor SealedLog {
  /// The largest frame, in bytes; one append of one scan stays far below.
  public static let frameBytesMax = 4 << 20
  /// The largest segment, in bytes.
  public static let segmentBytesMax = 64 << 20

  private let folder: URL
  private let seal: Seal
  /// The bytes of each day's segment, as far as this process has looked at them.
  private var ends: [UInt32: Int] = [:]

  /// The log in `folder`, sealed by `key` for `purpose`. Nothing is read or made yet.
  public init(folder: URL, key: SealingKey, purpose: String, randomness: any Randomness) {
    self.folder = folder
    seal = Seal(key: key, purpose: purpose, randomness: randomness)
  }

  /// Adds `records` to `day`, all of them or none; when this returns they are on the disk.
  ///
  /// - Throws: `.full` where there is no room, `.tooLarge` where they exceed a frame or the segment
  ///   its limit, `.disk` where the disk refuses.
  public func append(_ records: [Data], day: UInt32) throws(SealedStorageError) {
    guard !records.isEmpty else { return }
    let boxBytes = Frame.contentBytes(of: records) + Seal.overhead
    guard boxBytes <= Self.frameBytesMax else { throw .tooLarge }
    let end = try end(of: day)
    guard end + Frame.headerBytes + boxBytes <= Self.segmentBytesMax else { throw .tooLarge }
    let box = try seal.seal(Frame.content(of: records), place: place(day, at: end))
    let frame = Frame.around(box)
    // Known again only when the write is known to be whole.
    ends[day] = nil
    try Disk.makeFolder(folder)
    try Disk.append(frame, to: url(of: day))
    ends[day] = end + frame.count
  }

  /// The days that have a segment, oldest first.
  ///
  /// - Throws: `.disk` where the folder cannot be read.
  public func days() throws(SealedStorageError) -> [UInt32] {
    try listedDays()
  }

  /// What is readable of `day`, oldest first; a damaged frame is left out and counted.
  ///
  /// - Throws: `.disk` where the segment cannot be read.
  public func segment(of day: UInt32) throws(SealedStorageError) -> LogSegment {
    try frames(of: day).reduce(into: LogSegment()) { segment, frame in
      if let frame { segment.records += frame } else { segment.damagedFrames += 1 }
    }
  }

  /// Sets a damaged segment of `day` aside and begins it anew with what is readable of it.
  ///
  /// The old one goes on under the name `<day>.sealed.damaged` until the day is removed. At every
  /// moment one of the two is whole; where this throws, nothing has changed.
  ///
  /// - Throws: `.full` where there is no room for both, `.disk` where the disk refuses.
  public func setDamageAside(of day: UInt32) throws(SealedStorageError) {
    let readable = try frames(of: day).compactMap(\.self)
    var segment = Data()
    for records in readable {
      let box = try seal.seal(Frame.content(of: records), place: place(day, at: segment.count))
      segment += Frame.around(box)
    }
    ends[day] = nil
    try Disk.link(url(of: day), as: aside(of: day))
    do throws(SealedStorageError) {
      try Disk.replace(url(of: day), with: segment)
    } catch {
      try? Disk.remove(aside(of: day))
      throw error
    }
    ends[day] = segment.count
  }

  /// Removes every segment older than `day`.
  ///
  /// - Throws: `.disk` where the folder cannot be read or a file cannot be removed.
  public func removeDays(before day: UInt32) throws(SealedStorageError) {
    try remove(listedDays().filter { $0 < day })
  }

  /// Removes every segment.
  ///
  /// - Throws: `.disk` where the folder cannot be read or a file cannot be removed.
  public func removeAll() throws(SealedStorageError) {
    try remove(listedDays())
  }

  private static let suffix = ".sealed"

  private func remove(_ days: [UInt32]) throws(SealedStorageError) {
    for day in days {
      // The segment last: as long as it exists, a later call finds the day again.
      try Disk.removeLeftovers(of: url(of: day))
      try Disk.remove(aside(of: day))
      try Disk.remove(url(of: day))
      ends[day] = nil
    }
  }

  private func listedDays() throws(SealedStorageError) -> [UInt32] {
    try Disk.names(in: folder).compactMap { name in
      name.hasSuffix(Self.suffix) ? UInt32(name.dropLast(Self.suffix.count)) : nil
    }.sorted()
  }

  private func url(of day: UInt32) -> URL {
    folder.appendingPathComponent("\(day)\(Self.suffix)")
  }

  private func aside(of day: UInt32) -> URL { url(of: day).appendingPathExtension("damaged") }

  /// The records of each frame of `day`, nil for a damaged one, in order.
  private func frames(of day: UInt32) throws(SealedStorageError) -> [[Data]?] {
    let bytes = try Disk.read(url(of: day), bytesMax: Self.segmentBytesMax) ?? Data()
    let layout = SegmentLayout(of: bytes)
    let strange = [[Data]?](repeating: nil, count: layout.strangeStretches)
    return strange
      + layout.boxes.map { start, box in
        (try? seal.open(box, place: place(day, at: start))).flatMap(Frame.records)
      }
  }

  private func place(_ day: UInt32, at start: Int) -> String { "\(day)/\(start)" }

  /// Where the next frame goes. The file is read only where this process does not know it, as after
  /// a start or a failed write.
  private func end(of day: UInt32) throws(SealedStorageError) -> Int {
    let size = try Disk.size(of: url(of: day))
    if ends[day] == size { return size }
    return try repairedEnd(of: day)
  }

  /// Where the segment ends, after a frame that a power cut left half-written has been cut off.
  private func repairedEnd(of day: UInt32) throws(SealedStorageError) -> Int {
    let url = url(of: day)
    guard let bytes = try Disk.read(url, bytesMax: Self.segmentBytesMax) else { return 0 }
    guard let unfinished = SegmentLayout(of: bytes).unfinished else { return bytes.count }
    try Disk.truncate(url, to: unfinished)
    return unfinished
  }
}

/// What could be read of one day of a `SealedLog`.
public struct LogSegment: Sendable {
  /// The records, in the order they were added.
  public internal(set) var records: [Data] = []
  /// How many frames did not open and were left out.
  public internal(set) var damagedFrames = 0
}

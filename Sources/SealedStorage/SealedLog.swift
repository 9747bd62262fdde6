// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// An append-only log of records with one encrypted file for each day.
///
/// A day is a number that the owner chooses (here days since 1970 in UTC). Removing a day removes its file.
/// Each append writes one frame, bound to the log's purpose, the day and its position in the file. A frame
/// that was changed, moved or copied cannot be decrypted, and does not affect the others. The sizes of all segments
/// are sealed in `<folder>.sizes`, so that a segment that was removed, emptied or cut is detected. One process at a
/// time writes a log. Documentation/SealedStorage.md, "The log", has the format.
public actor SealedLog {
  /// The largest frame, in bytes; the sightings of one scan take far less.
  public static let frameBytesMax = 4 << 20
  /// The largest segment, in bytes.
  public static let segmentBytesMax = 64 << 20

  private let folder: URL
  private let seal: Seal
  private let sizes: SealedSizes
  private let place = PreparedPlace()
  /// The size of each day's segment, as far as this process knows it.
  private var ends: [UInt32: Int] = [:]
  /// The record of sizes that this process has stored; nil if it has stored none yet.
  private var storedSizes: [UInt32: SealedSizes.Entry]?
  /// The sizes that could not be stored yet; nil if those on the disk are complete.
  private var pendingSizes: [UInt32: SealedSizes.Entry]?

  /// The log in `folder`, encrypted by `key` for `purpose`. Nothing is read or created yet.
  public init(folder: URL, key: SealingKey, purpose: String, randomness: any Randomness) {
    self.folder = folder
    seal = Seal(key: key, purpose: purpose, randomness: randomness)
    sizes = SealedSizes(of: folder, key: key, purpose: purpose, randomness: randomness)
  }

  /// Appends `records` to `day`, all or none; when this returns they are on the disk.
  ///
  /// - Throws: `.full` if no space is left, `.tooLarge` if they exceed the limit of a frame or the segment,
  ///   `.disk` for another error.
  public func append(_ records: [Data], day: UInt32) throws(SealedStorageError) {
    guard Frame.contentBytes(of: records) + Seal.overhead <= Self.frameBytesMax else {
      throw .tooLarge
    }
    try append(LogRecords(records), day: day)
  }

  /// The same for records that are encoded already.
  package func append(_ records: LogRecords, day: UInt32) throws(SealedStorageError) {
    guard !records.isEmpty else { return }
    let boxBytes = records.content.count + Seal.overhead
    guard boxBytes <= Self.frameBytesMax else { throw .tooLarge }
    let before = try knownSizes()[day]
    let end = try end(of: day)
    guard end + Frame.headerBytes + boxBytes <= Self.segmentBytesMax else { throw .tooLarge }
    let box = try seal.seal(records.content, location: location(day, at: end))
    let frame = Frame.around(box)
    // Until the write has succeeded, the size is unknown.
    ends[day] = nil
    let url = url(of: day)
    try place.write(in: folder) { _ throws(SealedStorageError) in
      try Disk.append(frame, to: url)
    }
    ends[day] = end + frame.count
    let isIncomplete = before.map { $0.isIncomplete || end < $0.bytes } ?? false
    try changeSizes {
      $0[day] = SealedSizes.Entry(bytes: end + frame.count, isIncomplete: isIncomplete)
    }
  }

  /// The days that have a segment, and those whose segment was removed by others, oldest first.
  ///
  /// - Throws: `.disk` if the folder cannot be read.
  public func days() throws(SealedStorageError) -> [UInt32] {
    Set(try listedDays()).union(try recordedSizes().keys).sorted()
  }

  /// The readable records of `day`, oldest first; damaged frames are skipped and counted. A segment that was
  /// cut, emptied or removed has at least one damaged frame.
  ///
  /// - Throws: `.disk` if the segment cannot be read.
  public func segment(of day: UInt32) throws(SealedStorageError) -> LogSegment {
    try frames(of: day).reduce(into: LogSegment()) { segment, frame in
      if let frame { segment.frames.append(frame) } else { segment.damagedFrames += 1 }
    }
  }

  /// Renames a damaged segment of `day` and writes a new one with its readable records.
  ///
  /// The damaged segment is kept as `<day>.sealed.damaged` until the day is removed. If this throws, the segment of
  /// `day` is unchanged, except if only the folder could not be synced; then both files are kept. A crash at any point
  /// leaves at least one complete segment.
  ///
  /// - Throws: `.full` if there is no space for both, `.disk` for another error.
  public func setDamageAside(of day: UInt32) throws(SealedStorageError) {
    let readable = try frames(of: day).compactMap(\.self)
    var segment = Data()
    for records in readable {
      let box = try seal.seal(records.content, location: location(day, at: segment.count))
      segment += Frame.around(box)
    }
    ends[day] = nil
    guard try Disk.exists(url(of: day)) else { return try changeSizes { $0[day] = nil } }
    try Disk.link(url(of: day), as: aside(of: day))
    do throws(SealedStorageError) {
      try Disk.removeLeftovers(of: url(of: day))
      try Disk.replace(url(of: day), with: segment)
    } catch {
      // If only the sync of the folder failed, the second name is the only one of the damaged segment. Otherwise it is
      // removed; if that fails too, the next call replaces it.
      if Disk.isSameFile(url(of: day), aside(of: day)) { try? Disk.remove(aside(of: day)) }
      throw error
    }
    ends[day] = segment.count
    try changeSizes { $0[day] = SealedSizes.Entry(bytes: segment.count) }
  }

  /// Removes the segment of every day for which `isRemoved` is true.
  ///
  /// - Throws: `.disk` if the folder cannot be read or a file cannot be removed.
  public func removeDays(
    where isRemoved: @Sendable (UInt32) -> Bool
  ) throws(SealedStorageError) {
    try remove(days().filter(isRemoved))
  }

  /// Removes every segment.
  ///
  /// - Throws: `.disk` if the folder cannot be read or a file cannot be removed.
  public func removeAll() throws(SealedStorageError) {
    try remove(days())
    try sizes.remove()
    (storedSizes, pendingSizes) = (nil, nil)
  }

  private static let suffix = ".sealed"

  private func remove(_ days: [UInt32]) throws(SealedStorageError) {
    // The sizes first: after a kill between the two, a missing size is not a loss.
    try changeSizes { sizes in for day in days { sizes[day] = nil } }
    for day in days {
      // The segment last: while it exists, a retry finds the day.
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
    folder.appendingPathComponent("\(day)\(Self.suffix)", isDirectory: false)
  }

  private func aside(of day: UInt32) -> URL { url(of: day).appendingPathExtension("damaged") }

  /// The records of each frame of `day` in order, nil for a damaged frame.
  private func frames(of day: UInt32) throws(SealedStorageError) -> [LogRecords?] {
    let bytes: Data
    do throws(SealedStorageError) {
      bytes = try Disk.read(url(of: day), bytesMax: Self.segmentBytesMax) ?? Data()
    } catch .tooLarge {
      // `append` never writes a segment of this size.
      return [nil]
    }
    let layout = SegmentLayout(of: bytes)
    let unrecognized = [LogRecords?](repeating: nil, count: layout.unrecognizedRangeCount)
    let frames =
      unrecognized
      + layout.boxes.map { start, box in
        // A box that cannot be decrypted is one more unrecognized range.
        (try? seal.open(box, location: location(day, at: start))).flatMap(LogRecords.init(content:))
      }
    let entry = try recordedSizes()[day]
    let isCut = entry.map { $0.isIncomplete || bytes.count < $0.bytes } ?? false
    return isCut && frames.allSatisfy { $0 != nil } ? frames + [nil] : frames
  }

  private func location(_ day: UInt32, at start: Int) -> String { "\(day)/\(start)" }

  /// The offset of the next frame. The file is read only if this process does not know its size: after a
  /// start or a failed write.
  private func end(of day: UInt32) throws(SealedStorageError) -> Int {
    let size = try Disk.size(of: url(of: day))
    if ends[day] == size { return size }
    return try repairedEnd(of: day)
  }

  /// The end of the segment, after removing a frame that a power failure left incomplete.
  private func repairedEnd(of day: UInt32) throws(SealedStorageError) -> Int {
    let url = url(of: day)
    guard let bytes = try Disk.read(url, bytesMax: Self.segmentBytesMax) else { return 0 }
    guard let incompleteFrame = SegmentLayout(of: bytes).incompleteFrame else { return bytes.count }
    try Disk.truncate(url, to: incompleteFrame)
    return incompleteFrame
  }
}

// The sizes of the segments.
extension SealedLog {
  /// The recorded sizes.
  ///
  /// Segments of a log without recorded sizes are taken as they are. If the record is damaged, a part of each segment
  /// may have been lost.
  private func recordedSizes() throws(SealedStorageError) -> [UInt32: SealedSizes.Entry] {
    if let pendingSizes { return pendingSizes }
    var entries: [UInt32: SealedSizes.Entry]
    do throws(SealedStorageError) {
      if let stored = try sizes.read() {
        entries = stored
      } else {
        entries = [:]
        for day in try listedDays() {
          entries[day] = SealedSizes.Entry(bytes: try completeBytes(of: day))
        }
      }
    } catch .damaged {
      entries = [:]
      for day in try listedDays() {
        entries[day] = SealedSizes.Entry(bytes: 0, isIncomplete: true)
      }
    }
    return entries
  }

  /// The size of the segment of `day` without a frame that a power failure left incomplete.
  private func completeBytes(of day: UInt32) throws(SealedStorageError) -> Int {
    do throws(SealedStorageError) {
      let bytes = try Disk.read(url(of: day), bytesMax: Self.segmentBytesMax) ?? Data()
      return SegmentLayout(of: bytes).incompleteFrame ?? bytes.count
    } catch .tooLarge {
      return 0
    }
  }

  /// The recorded sizes, read only if this process has not stored them.
  private func knownSizes() throws(SealedStorageError) -> [UInt32: SealedSizes.Entry] {
    if let known = pendingSizes ?? storedSizes { known } else { try recordedSizes() }
  }

  private func changeSizes(
    _ change: (inout [UInt32: SealedSizes.Entry]) -> Void
  ) throws(SealedStorageError) {
    var entries = try knownSizes()
    change(&entries)
    pendingSizes = entries
    do throws(SealedStorageError) {
      let isStored =
        if let storedSizes { storedSizes == entries } else { try !sizes.differ(from: entries) }
      if !isStored {
        try sizes.replace(with: entries, after: storedSizes)
      }
      (storedSizes, pendingSizes) = (entries, nil)
    } catch {
      // The segment itself is stored. An older size is smaller, so nothing is lost, and the next change stores this
      // one.
    }
  }
}

/// The readable part of one day of a `SealedLog`.
public struct LogSegment: Sendable {
  /// The readable frames, in the order of the appends.
  var frames: [LogRecords] = []
  /// The number of frames that could not be decrypted and were skipped.
  public internal(set) var damagedFrames = 0

  /// The records, in the order of the appends.
  public var records: [Data] {
    var records: [Data] = []
    forEachRecord { records.append(Data($0)) }
    return records
  }

  /// Calls `body` with the bytes of each record, in the order of the appends; they are valid during the call only.
  package func forEachRecord(_ body: (UnsafeRawBufferPointer) -> Void) {
    for frame in frames { frame.forEach(body) }
  }
}

/// The positions of the frames in a segment.
struct SegmentLayout {
  /// The box of each frame with the offset of the frame, in order.
  private(set) var boxes: [(offset: Int, box: Data)] = []
  /// The number of ranges in which no frame was found.
  private(set) var unrecognizedRangeCount = 0
  /// The offset of the last frame, if it is incomplete.
  private(set) var incompleteFrame: Int?

  init(of segment: Data) {
    var offset = 0
    while offset < segment.count {
      guard let length = Frame.boxLength(in: segment, at: offset) else {
        guard let next = Self.nextHeader(in: segment, after: offset) else {
          classifyEnd(of: segment, from: offset)
          return
        }
        unrecognizedRangeCount += 1
        offset = next
        continue
      }
      let end = offset + Frame.headerBytes + length
      guard end <= segment.count else {
        incompleteFrame = offset
        return
      }
      boxes.append((offset, segment.subdata(in: offset + Frame.headerBytes..<end)))
      offset = end
    }
  }

  /// Remaining bytes that are shorter than a header are an incomplete frame; more are an unrecognized range.
  private mutating func classifyEnd(of segment: Data, from offset: Int) {
    if segment.count - offset < Frame.headerBytes {
      incompleteFrame = offset
    } else {
      unrecognizedRangeCount += 1
    }
  }

  /// The offset of the next header after `offset`.
  ///
  /// The last bytes of a box and the header after it may look like a header by chance. Among overlapping
  /// candidates, the first whose frame ends at the next header is returned, or else the first whose frame fits.
  private static func nextHeader(in segment: Data, after offset: Int) -> Int? {
    let isHeader = { Frame.boxLength(in: segment, at: $0) != nil }
    guard let first = (offset..<segment.count).dropFirst().first(where: isHeader) else {
      return nil
    }
    let candidates = (first..<min(first + Frame.headerBytes, segment.count)).filter(isHeader)
    let end = { (offset: Int) in
      offset + Frame.headerBytes + (Frame.boxLength(in: segment, at: offset) ?? 0)
    }
    return candidates.first { end($0) == segment.count || isHeader(end($0)) }
      ?? candidates.first { end($0) <= segment.count } ?? first
  }
}

/// The format of records in a segment: a header, then a box, which holds each record with its length.
///
/// The header has the box's length twice, the second time with all bits inverted. So a damaged length is
/// detected and costs only its own frame. Documentation/SealedStorage.md, "The log", has the format.
enum Frame {
  static let headerBytes = 8
  private static let lengthBytes = 4

  static func around(_ box: Data) -> Data {
    length(box.count) + length(~UInt32(box.count)) + box
  }

  /// The size of the content of a frame with these records, in bytes.
  static func contentBytes(of records: [Data]) -> Int {
    records.reduce(0) { $0 + LogRecords.lengthBytes + $1.count }
  }

  /// The length of the box whose header is at `offset`; nil if there is no header.
  static func boxLength(in segment: Data, at offset: Int) -> Int? {
    guard offset + headerBytes <= segment.count else { return nil }
    let length = number(in: segment, at: offset)
    guard length == ~number(in: segment, at: offset + lengthBytes),
      length <= SealedLog.frameBytesMax
    else { return nil }
    return Int(length)
  }

  private static func length(_ count: Int) -> Data { length(UInt32(count)) }

  private static func length(_ count: UInt32) -> Data {
    withUnsafeBytes(of: count.littleEndian) { Data($0) }
  }

  private static func number(in bytes: Data, at offset: Int) -> UInt32 {
    bytes.subdata(in: offset..<offset + lengthBytes).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}

// SPDX-License-Identifier: Apache-2.0
/// The directory of a published zip: the entries that are read, and those that are skipped. APPNOTE.TXT 4.3.
struct PublishedZipDirectory {
  /// The position of the zip in the file, without the bytes before it and without its comment.
  let zip: Range<Int>
  /// All entries in the order of their positions in the file.
  let entries: [ZipEntry]
  let deviations: [KeyFileDeviation]

  /// - Throws: `KeyFileError.duplicateEntry` if two entries could be the same half of the key file, and other errors if
  ///   a half cannot be read.
  init(of bytes: LittleEndianBytes) throws(KeyFileError) {
    let end = try Self.end(of: bytes)
    guard let directory = Self.place(of: bytes, before: end) else { throw .damagedZip }
    let listed = try Self.entries(in: bytes, directory)
    try Self.check(listed)
    entries = listed.sorted { $0.position < $1.position }
    guard Swift.zip(entries, entries.dropFirst()).allSatisfy({ $0.position < $1.position }),
      entries.allSatisfy({ $0.isAtItsPosition(in: bytes, of: directory.start) })
    else { throw .damagedZip }
    zip = directory.start..<end + Self.endByteCount
    let leading = directory.start + (entries.first?.position ?? 0)
    let comment = bytes.number(at: end + Self.commentLengthPlace, 2) ?? 0
    let trailing = bytes.count - zip.upperBound - comment
    deviations =
      (leading > 0 ? [.leadingBytes(leading)] : []) + listed.compactMap(\.deviation)
      + (comment > 0 ? [.comment(comment)] : [])
      + (trailing > 0 ? [.trailingBytes(trailing)] : [])
  }

  /// The position of the end record. It is the one whose comment ends with the file, or if none does, one that has a
  /// directory before it. A file with two of them is rejected, because readers disagree about it.
  private static func end(of bytes: LittleEndianBytes) throws(KeyFileError) -> Int {
    let last = bytes.count - endByteCount
    let places = last < 0 ? [] : Array(max(0, last - commentByteCountMax)...last)
    let records = places.filter { bytes.has(ZipDirectory.end, at: $0) }
    func excess(_ end: Int) -> Int {
      last - end - (bytes.number(at: end + commentLengthPlace, 2) ?? 0)
    }
    var ends = records.filter { excess($0) == 0 }
    if ends.isEmpty {
      ends = records.filter { excess($0) > 0 && hasDirectory(bytes, before: $0) }
    }
    guard ends.count == 1 else {
      throw bytes.has(ZipDirectory.localEntry, at: 0) ? .damagedZip : .notAKeyFile
    }
    return ends[0]
  }

  private static func hasDirectory(_ bytes: LittleEndianBytes, before end: Int) -> Bool {
    guard let directory = place(of: bytes, before: end) else { return false }
    return bytes.has(ZipDirectory.listedEntry, at: directory.list.lowerBound)
  }

  /// The start of the zip, and the position and the length of its directory; nil if they contradict each other.
  private static func place(
    of bytes: LittleEndianBytes, before end: Int
  ) -> (start: Int, list: Range<Int>, count: Int)? {
    var (record, listEnd) = (end, end)
    // Position and width of the number of entries, the length and the start of the directory.
    var fields = [(8, 2), (12, 4), (16, 4)]
    if bytes.has(ZipDirectory.zip64Locator, at: end - zip64LocatorByteCount) {
      // The record follows the directory, and usually has no extensible data.
      record = end - zip64LocatorByteCount - zip64EndByteCount
      guard bytes.has(zip64End, at: record) else { return nil }
      (listEnd, fields) = (record, [(24, 8), (40, 8), (48, 8)])
    } else if bytes.number(at: end + 4, 4) != 0 {
      // A part of a zip of several files.
      return nil
    }
    guard let count = bytes.number(at: record + fields[0].0, fields[0].1),
      let length = bytes.number(at: record + fields[1].0, fields[1].1),
      let offset = bytes.number(at: record + fields[2].0, fields[2].1),
      length <= listEnd, offset <= listEnd - length
    else { return nil }
    return (listEnd - length - offset, listEnd - length..<listEnd, count)
  }

  private static func entries(
    in bytes: LittleEndianBytes, _ directory: (start: Int, list: Range<Int>, count: Int)
  ) throws(KeyFileError) -> [ZipEntry] {
    guard directory.count > 0 else { throw .missingExport }
    guard directory.count <= KeyFileLimit.publishedEntryCountMax else { throw .wrongEntryCount }
    var place = directory.list.lowerBound
    var entries: [ZipEntry] = []
    for _ in 0..<directory.count {
      guard let (entry, next) = ZipEntry.read(bytes, at: place),
        next <= directory.list.upperBound
      else { throw .damagedZip }
      entries.append(entry)
      place = next
    }
    // Other readers read up to the end, and would find entries that were not checked.
    guard place == directory.list.upperBound else { throw .damagedZip }
    return entries
  }

  /// Throws if the halves are ambiguous, missing, or cannot be read.
  private static func check(_ entries: [ZipEntry]) throws(KeyFileError) {
    for part in ExportPart.allCases {
      let candidates = entries.filter { $0.part == part }
      guard candidates.count <= 1 else { throw .duplicateEntry }
      guard let entry = candidates.first else { continue }
      guard !entry.isLink else { throw .linkedEntry }
      guard !entry.isEncrypted else { throw .encryptedEntry }
      guard ZipDirectory.methods.contains(entry.method) else {
        throw .unsupportedCompression(entry.method)
      }
    }
    guard entries.contains(where: { $0.part == .export }) else {
      throw entries.contains(where: \.isExportAtUnusablePath) ? .unusablePath : .missingExport
    }
  }

  private static let endByteCount = 22
  /// The position of the length of the comment in the end record.
  private static let commentLengthPlace = 20
  private static let commentByteCountMax = 0xffff
  private static let zip64LocatorByteCount = 20
  private static let zip64EndByteCount = 56
  private static let zip64End: [UInt8] = [0x50, 0x4b, 0x06, 0x06]
}

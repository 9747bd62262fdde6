// SPDX-License-Identifier: Apache-2.0
/// An entry in the directory of a published zip.
struct PublishedZipEntry {
  let name: [UInt8]
  let method: Int
  let isEncrypted: Bool
  let isFolder: Bool
  let isLink: Bool
  /// The position of its local header, from the start of the zip.
  let position: Int

  /// The half of the key file that the entry is, in any folder, in upper or lower case; nil if it is skipped.
  var part: ExportPart? {
    guard !isFolder else { return nil }
    let path = text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
    guard let last = path.last?.lowercased(), path.first != "",
      !path.contains(".."), !path.contains("__MACOSX")
    else { return nil }
    return ExportPart(rawValue: last)
  }

  /// The note for the user, or nil if the entry is as the format wants it.
  var deviation: KeyFileDeviation? {
    guard let part else { return isFolder ? .folder(text) : .otherEntry(text) }
    return text == part.rawValue ? nil : .otherName(text, of: part.rawValue)
  }

  /// True if every locale can show the name.
  var hasPlainName: Bool { name.allSatisfy { $0 < 0x80 } }

  private var text: String { String(decoding: name, as: UTF8.self) }

  /// Returns `true` if the local header is where the directory says, and has the same name: with two names, readers
  /// disagree about which entry is the export.
  func isAtItsPosition(in bytes: LittleEndianBytes, of start: Int) -> Bool {
    let place = start + position
    return bytes.has(ZipDirectory.localEntry, at: place)
      && bytes.number(at: place + 26, 2) == name.count && bytes.has(name, at: place + 30)
  }
}

extension PublishedZipEntry {
  /// Reads the entry of the directory at `place`. Returns it and the position of the next one.
  static func read(
    _ bytes: LittleEndianBytes, at place: Int
  ) -> (entry: PublishedZipEntry, next: Int)? {
    guard bytes.has(ZipDirectory.listedEntry, at: place),
      let system = bytes.number(at: place + 5, 1), let flags = bytes.number(at: place + 8, 2),
      let method = bytes.number(at: place + 10, 2),
      let attributes = bytes.number(at: place + 38, 4),
      let nameLength = bytes.number(at: place + 28, 2),
      let extraLength = bytes.number(at: place + 30, 2),
      let commentLength = bytes.number(at: place + 32, 2),
      let position = position(bytes, at: place, extra: place + listedByteCount + nameLength)
    else { return nil }
    let next = place + listedByteCount + nameLength + extraLength + commentLength
    guard next <= bytes.count, position < bytes.count else { return nil }
    let name = bytes.bytes[place + listedByteCount..<place + listedByteCount + nameLength]
    // The high half of the attributes is the Unix mode, if the zip was written on Unix.
    let type = system == unix ? attributes >> 16 & 0o170000 : 0
    return (
      PublishedZipEntry(
        name: Array(name), method: method, isEncrypted: flags & 1 == 1,
        isFolder: name.last == UInt8(ascii: "/") || type == 0o040000 || attributes & 0x10 != 0,
        isLink: type == 0o120000, position: position), next
    )
  }

  /// The position of the local header; with zip64 it may be in the extra field after the sizes.
  private static func position(
    _ bytes: LittleEndianBytes, at place: Int, extra: Int
  ) -> Int? {
    guard let position = bytes.number(at: place + 42, 4) else { return nil }
    guard position == UInt32.max else { return position }
    guard let length = bytes.number(at: place + 30, 2) else { return nil }
    let sizes = [20, 24].count { bytes.number(at: place + $0, 4) == Int(UInt32.max) }
    var field = extra
    while field + 4 <= extra + length, let count = bytes.number(at: field + 2, 2) {
      if bytes.number(at: field, 2) == 1 { return bytes.number(at: field + 4 + 8 * sizes, 8) }
      field += 4 + count
    }
    return nil
  }

  private static let listedByteCount = 46
  private static let unix = 3
}

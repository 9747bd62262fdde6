// SPDX-License-Identifier: Apache-2.0
/// A zip built byte by byte, so that a test can spoil one part. All entries are stored.
public struct RawZip: Sendable {
  /// One entry, with the parts that a test can spoil.
  public struct Entry: Sendable {
    public var name: String
    public var content: [UInt8]
    /// The Unix file type and permissions, in the high half of the external attributes.
    public var mode: UInt32 = 0o100644
    public var flags: UInt16 = 0
    /// The stated compression method; 0 is stored.
    public var method = 0
    /// The stated size, if it differs from the true one.
    public var statedByteCount: Int?
    /// The name in the local header, if it differs from that in the directory.
    public var localName: String?

    public init(
      name: String, content: [UInt8], mode: UInt32 = 0o100644, flags: UInt16 = 0, method: Int = 0,
      localName: String? = nil
    ) {
      (self.name, self.content, self.mode, self.flags) = (name, content, mode, flags)
      (self.method, self.localName) = (method, localName)
    }
  }

  public var entries: [Entry]
  /// The number of entries in the end record, if it differs from the true one.
  public var statedEntryCount: Int?
  public var comment: [UInt8] = []
  /// True if sizes and positions are only in zip64 fields.
  public var isZip64 = false

  public init(entries: [Entry]) {
    self.entries = entries
  }

  /// The zip.
  public var bytes: [UInt8] {
    var file: [UInt8] = []
    var directory: [UInt8] = []
    for entry in entries {
      let offset = file.count
      let localName = entry.localName ?? entry.name
      file += number(0x0403_4b50, 4) + fields(of: entry) + number(localName.utf8.count, 2)
      file += number(0, 2) + Array(localName.utf8) + entry.content
      directory += number(0x0201_4b50, 4) + number(0x0314, 2) + fields(of: entry, isZip64: isZip64)
      let extra = isZip64 ? zip64Extra(of: entry, at: offset) : []
      directory += number(entry.name.utf8.count, 2) + number(extra.count, 2) + number(0, 6)
      directory += number(Int(entry.mode) << 16, 4) + number(isZip64 ? Self.none : offset, 4)
      directory += Array(entry.name.utf8) + extra
    }
    return file + directory + end(fileCount: file.count, directoryCount: directory.count)
  }

  /// The end records of a zip with its directory at `fileCount`.
  private func end(fileCount: Int, directoryCount: Int) -> [UInt8] {
    let count = statedEntryCount ?? entries.count
    let zip64 =
      number(0x0606_4b50, 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8)
      + number(count, 8) + number(count, 8) + number(directoryCount, 8) + number(fileCount, 8)
      + number(0x0706_4b50, 4) + number(0, 4) + number(fileCount + directoryCount, 8)
      + number(1, 4)
    return (isZip64 ? zip64 : []) + number(0x0605_4b50, 4) + number(0, 4)
      + number(isZip64 ? 0xffff : count, 2) + number(isZip64 ? 0xffff : count, 2)
      + number(isZip64 ? Self.none : directoryCount, 4)
      + number(isZip64 ? Self.none : fileCount, 4) + number(comment.count, 2) + comment
  }

  /// The 32-bit value for a number that is in a zip64 field.
  private static let none = 0xffff_ffff

  /// The sizes and the position of `entry` as a zip64 extra field.
  private func zip64Extra(of entry: Entry, at offset: Int) -> [UInt8] {
    number(1, 2) + number(24, 2) + number(entry.statedByteCount ?? entry.content.count, 8)
      + number(entry.content.count, 8) + number(offset, 8)
  }

  /// The fields that local header and directory have in common: version to sizes.
  private func fields(of entry: Entry, isZip64: Bool = false) -> [UInt8] {
    let byteCount = entry.statedByteCount ?? entry.content.count
    return number(20, 2) + number(Int(entry.flags), 2) + number(entry.method, 2)
      + number(0x0021_0000, 4) + number(Int(crc32(entry.content)), 4)
      + number(isZip64 ? Self.none : entry.content.count, 4)
      + number(isZip64 ? Self.none : byteCount, 4)
  }

  private func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}

private let crcTable: [UInt32] = (0..<256).map { index in
  (0..<8).reduce(UInt32(index)) { value, _ in
    value & 1 == 1 ? 0xedb8_8320 ^ value >> 1 : value >> 1
  }
}

private func crc32(_ bytes: [UInt8]) -> UInt32 {
  ~bytes.reduce(UInt32.max) { crcTable[Int(($0 ^ UInt32($1)) & 0xff)] ^ $0 >> 8 }
}

import Foundation

/// A zip put together byte by byte, so that it may be wrong in one place. Everything is stored.
struct RawZip {
  /// One entry, with what a test may want to get wrong.
  struct Entry {
    var name: String
    var content: [UInt8]
    /// What Unix thinks the entry is, in the high half of the external attributes.
    var mode: UInt32 = 0o100644
    var flags: UInt16 = 0
    /// How it says it is compressed; 0 is stored.
    var method = 0
    /// The size the zip states, where it is not the true one.
    var statedByteCount: Int?
  }

  var entries: [Entry]
  /// The number of entries the end states, where it is not the true one.
  var statedEntryCount: Int?
  var comment: [UInt8] = []

  var bytes: [UInt8] {
    var file: [UInt8] = []
    var directory: [UInt8] = []
    for entry in entries {
      let offset = file.count
      let fields = fields(of: entry)
      file += number(0x0403_4b50, 4) + fields + number(0, 2)
      directory += number(0x0201_4b50, 4) + number(0x0314, 2) + fields
      directory += number(0, 8) + number(Int(entry.mode) << 16, 4) + number(offset, 4)
      file += Array(entry.name.utf8) + entry.content
      directory += Array(entry.name.utf8)
    }
    let count = number(statedEntryCount ?? entries.count, 2)
    let end =
      number(0x0605_4b50, 4) + number(0, 4) + count + count + number(directory.count, 4)
      + number(file.count, 4) + number(comment.count, 2) + comment
    return file + directory + end
  }

  /// What the entry and the list of entries both say: version to name length.
  private func fields(of entry: Entry) -> [UInt8] {
    let byteCount = entry.statedByteCount ?? entry.content.count
    return number(20, 2) + number(Int(entry.flags), 2) + number(entry.method, 2)
      + number(0x0021_0000, 4)
      + number(Int(crc32(entry.content)), 4) + number(entry.content.count, 4)
      + number(byteCount, 4) + number(entry.name.utf8.count, 2)
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

/// The end of a zip: how many entries there are and where their list lies.
///
/// Read before libarchive sees the file, since libarchive reads a list of any length into memory.
/// APPNOTE.TXT 4.3.16. A key file has no comment, is one file and needs no zip64.
struct ZipDirectory {
  /// How a zip begins that holds something.
  static let localEntry: [UInt8] = [0x50, 0x4b, 0x03, 0x04]
  /// How the end begins.
  static let end: [UInt8] = [0x50, 0x4b, 0x05, 0x06]
  private static let zip64Locator: [UInt8] = [0x50, 0x4b, 0x06, 0x07]
  private static let endByteCount = 22
  private static let zip64LocatorByteCount = 20

  let entryCount: Int

  /// Reads the end of `file`; throws where it is not the end of a plain zip within the limits.
  init(of file: ReadableFile) throws(KeyFileError) {
    let start = file.byteCount - Self.endByteCount
    guard start >= 0 else { throw .damagedZip }
    let record = try file.bytes(at: start, count: Self.endByteCount)
    guard record.count == Self.endByteCount, record.starts(with: Self.end) else {
      throw .damagedZip
    }
    func number(_ range: Range<Int>) -> Int {
      record[range].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let (disks, entries, entriesHere) = (number(4..<8), number(10..<12), number(8..<10))
    let (byteCount, offset, comment) = (number(12..<16), number(16..<20), number(20..<22))
    guard disks == 0, comment == 0, offset + byteCount == start, entries == entriesHere else {
      throw .damagedZip
    }
    guard 1...KeyFileLimit.entryCountMax ~= entries else { throw .wrongEntryCount }
    guard byteCount <= KeyFileLimit.zipDirectoryByteCountMax else { throw .damagedZip }
    let before = try file.bytes(
      at: max(0, start - Self.zip64LocatorByteCount), count: Self.zip64LocatorByteCount)
    guard !before.starts(with: Self.zip64Locator) else { throw .damagedZip }
    entryCount = entries
    try checkMethods(in: try file.bytes(at: offset, count: byteCount))
  }

  /// Only stored and deflated entries: what libarchive knows besides may ask for gigabytes of memory
  /// to be unpacked. Documentation/KeyFiles.md 1.1.
  private func checkMethods(in list: [UInt8]) throws(KeyFileError) {
    func number(_ place: Int) -> Int { Int(list[place]) | Int(list[place + 1]) << 8 }
    var place = 0
    for _ in 0..<entryCount {
      guard place + Self.listedByteCount <= list.count,
        list[place...].starts(with: Self.listedEntry), Self.methods.contains(number(place + 10))
      else { throw .damagedZip }
      place += Self.listedByteCount + number(place + 28) + number(place + 30) + number(place + 32)
    }
  }

  private static let listedEntry: [UInt8] = [0x50, 0x4b, 0x01, 0x02]
  private static let listedByteCount = 46
  private static let methods = [0, 8]
}

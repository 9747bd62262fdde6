/// What a zip says of one entry: before it, behind it and in the list at the end. APPNOTE.TXT 4.3.
///
/// Documentation/KeyFiles.md 6.2 says why each value is what it is.
struct ZipEntryRecord {
  let part: ExportPart
  /// Where the entry begins in the file.
  let offset: Int
  var check = CyclicCheck()
  var deflatedByteCount = 0

  private static let localSignature: UInt32 = 0x0403_4b50
  private static let descriptorSignature: UInt32 = 0x0807_4b50
  private static let listedSignature: UInt32 = 0x0201_4b50
  /// 2.0, the first that deflates.
  private static let versionNeeded: UInt16 = 20
  /// The same, on Unix, whose rights `attributes` has.
  private static let versionMadeBy: UInt16 = 3 << 8 | 20
  /// CRC-32 and sizes stand behind the entry.
  private static let flags: UInt16 = 1 << 3
  private static let deflated: UInt16 = 8
  /// 1980-01-01, the earliest there is: no file tells when it was made.
  private static let (time, date): (UInt16, UInt16) = (0, 1 << 5 | 1)
  /// A plain file that everybody may read.
  private static let attributes: UInt32 = 0o100644 << 16

  /// 4.3.7, the local file header.
  var header: [UInt8] {
    let unknown = [UInt8](repeating: 0, count: 12)
    return Self.localSignature.littleEndianBytes + kind + unknown + nameLengths + name
  }

  /// 4.3.9, the data descriptor.
  var descriptor: [UInt8] {
    Self.descriptorSignature.littleEndianBytes + sums
  }

  /// 4.3.12, the central directory header.
  var listed: [UInt8] {
    let comment: UInt16 = 0
    let disk: UInt16 = 0
    let isText: UInt16 = 0
    return Self.listedSignature.littleEndianBytes + Self.versionMadeBy.littleEndianBytes + kind
      + sums + nameLengths + comment.littleEndianBytes + disk.littleEndianBytes
      + isText.littleEndianBytes + Self.attributes.littleEndianBytes
      + UInt32(offset).littleEndianBytes + name
  }

  private var kind: [UInt8] {
    [Self.versionNeeded, Self.flags, Self.deflated, Self.time, Self.date]
      .flatMap(\.littleEndianBytes)
  }

  private var sums: [UInt8] {
    [check.value, UInt32(deflatedByteCount), UInt32(check.byteCount)].flatMap(\.littleEndianBytes)
  }

  /// Of the name, and of the extra field that there is none of.
  private var nameLengths: [UInt8] {
    [UInt16(name.count), 0].flatMap(\.littleEndianBytes)
  }

  private var name: [UInt8] { Array(part.rawValue.utf8) }
}

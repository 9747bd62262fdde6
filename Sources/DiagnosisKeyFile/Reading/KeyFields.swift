import ExposureKeys
import Secrets

/// One key as it stands in the file: what it says, whether or not it makes sense, with the defaults
/// of the format where it says nothing (Documentation/KeyFiles.md 2.3).
///
/// The message `TemporaryExposureKey` of export.proto, read by hand because a file holds hundreds of
/// thousands of them. The bytes of the key are borrowed from the chunk they came in.
struct KeyFields {
  var keyData: UnsafeRawBufferPointer?
  var transmissionRiskLevel: Int32 = 0
  var rollingStart: Int32 = 0
  var rollingPeriod = Int32(bitPattern: IntervalNumber.perDay)
  /// The raw value of a `ReportType`, or `KeyRow.notStated`.
  var reportType = KeyRow.notStated
  /// The raw value of a `VariantOfConcern`, or `KeyRow.notStated`.
  var variantOfConcern = KeyRow.notStated
  var days: Int32 = 0
  var hasDays = false

  /// Nothing said yet.
  @inline(__always)
  init() {}

  /// Reads one whole message; nil where it is malformed.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var cursor = ProtobufCursor(bytes)
    do throws(ProtobufCursor.ParseError) {
      while !cursor.isAtEnd { try read(&cursor) }
    } catch {
      return nil
    }
  }

  private mutating func read(_ cursor: inout ProtobufCursor) throws(ProtobufCursor.ParseError) {
    let tag = try cursor.tag()
    switch (tag.number, tag.wireType) {
    case (1, .lengthDelimited): keyData = try cursor.take(try cursor.length())
    case (2, .varint): transmissionRiskLevel = try cursor.int32()
    case (3, .varint): rollingStart = try cursor.int32()
    case (4, .varint): rollingPeriod = try cursor.int32()
    case (5, .varint): setReportType(try cursor.int32())
    case (6, .varint): setDays(try cursor.sint32())
    case (8, .varint): setVariant(try cursor.int32())
    default: try cursor.skip(tag.wireType)
    }
  }

  /// A report type of tomorrow is as good as none, as proto2 has it.
  @inline(__always)
  mutating func setReportType(_ raw: Int32) {
    guard raw >= 0, raw <= ReportType.revoked.rawValue else { return }
    reportType = Int8(truncatingIfNeeded: raw)
  }

  /// So is a variant of tomorrow.
  @inline(__always)
  mutating func setVariant(_ raw: Int32) {
    guard raw >= 0, raw <= Int32(VariantOfConcern.vaccineBreakthrough.rawValue) else { return }
    variantOfConcern = Int8(truncatingIfNeeded: raw)
  }

  @inline(__always)
  mutating func setDays(_ count: Int32) {
    days = count
    hasDays = true
  }
}

extension KeyFields: Redacted {}

/// The common form of a key, read without asking at every byte whether there is another.
extension KeyFields {
  /// Tag, length, and the longest common message: six numbers of at most six bytes and the key.
  static let fastByteCountMax = 2 + 2 + 16 + 6 * 6
  /// How many bytes past a message its last number may be looked for.
  static let fastSlack = 8

  /// Reads the message at `message` of `byteCount` bytes, at least 18, after which `fastSlack` more
  /// bytes may be touched; nil where it is of another than the common form, right or wrong:
  /// `init(_:)` then decides.
  ///
  /// Common: sixteen bytes of key first, then the numbers of the other fields in at most five bytes each.
  @inline(__always)
  init?(common message: UnsafeRawPointer, byteCount: Int) {
    guard message.loadUnaligned(as: UInt16.self) == Self.sixteenBytesOfKey else { return nil }
    self.init()
    keyData = UnsafeRawBufferPointer(start: message + 2, count: 16)
    var place = message + 18
    let end = message + byteCount
    while place < end {
      let tag = place.load(as: UInt8.self)
      place += 1
      guard let number = Self.number(&place) else { return nil }
      switch tag {
      case 2 << 3: transmissionRiskLevel = number
      case 3 << 3: rollingStart = number
      case 4 << 3: rollingPeriod = number
      case 5 << 3: setReportType(number)
      case 6 << 3: setDays(Int32(bitPattern: UInt32(bitPattern: number) >> 1) ^ -(number & 1))
      case 8 << 3: setVariant(number)
      default: return nil
      }
    }
    guard place == end else { return nil }
  }

  /// Field 1, length-delimited, sixteen bytes, as two bytes of memory.
  private static var sixteenBytesOfKey: UInt16 { UInt16(littleEndian: 0x100a) }

  /// A number of at most five bytes; nil for a longer one, such as a negative.
  @inline(__always)
  private static func number(_ place: inout UnsafeRawPointer) -> Int32? {
    var value: UInt32 = 0
    for shift in stride(from: UInt32(0), through: 28, by: 7) {
      let byte = place.load(as: UInt8.self)
      place += 1
      value |= UInt32(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return Int32(bitPattern: value) }
    }
    return nil
  }
}

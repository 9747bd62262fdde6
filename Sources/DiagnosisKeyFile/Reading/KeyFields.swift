// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Secrets

/// The fields of one key in the file, valid or not, with the defaults of the format.
///
/// The message `TemporaryExposureKey` of export.proto. It is parsed by hand because a file holds hundreds
/// of thousands of them. The bytes of the key are borrowed from their chunk.
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

  @inline(__always)
  init() {}

  /// Parses one complete message; nil if it is malformed.
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

  /// An unknown report type counts as missing, as in proto2.
  @inline(__always)
  mutating func setReportType(_ raw: Int32) {
    guard raw >= 0, raw <= ReportType.revoked.rawValue else { return }
    reportType = Int8(truncatingIfNeeded: raw)
  }

  /// An unknown variant counts as missing.
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

/// A faster parser for the common form of a key: fewer checks for each byte.
extension KeyFields {
  /// Tag, length and the longest common message: six numbers of at most six bytes, and the key.
  static let fastByteCountMax = 2 + 2 + 16 + 6 * 6
  /// The number of bytes past a message that parsing its last number may read.
  static let fastSlack = 8

  /// Parses the message of `byteCount` bytes (at least 18) at `message`. `fastSlack` bytes after it must be
  /// readable.
  ///
  /// In the common form the sixteen bytes of the key come first, and the numbers of the other fields have
  /// at most five bytes each. Nil for any other form, valid or not: `init(_:)` then decides.
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

  /// Field 1, length-delimited, sixteen bytes, as two bytes in memory order.
  private static var sixteenBytesOfKey: UInt16 { UInt16(littleEndian: 0x100a) }

  /// A number of at most five bytes; nil for a longer one, such as a negative number.
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

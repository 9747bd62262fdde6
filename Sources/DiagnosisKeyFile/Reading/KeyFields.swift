import ExposureKeys

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
    do throws(ProtobufCursor.Obstacle) {
      while !cursor.isAtEnd { try read(&cursor) }
    } catch {
      return nil
    }
  }

  private mutating func read(_ cursor: inout ProtobufCursor) throws(ProtobufCursor.Obstacle) {
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

extension KeyFields: CustomStringConvertible, CustomReflectable {
  var description: String { "KeyFields" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

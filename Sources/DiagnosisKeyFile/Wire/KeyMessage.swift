import ExposureKeys

/// One key as a key file writes it: what is set, whether or not it makes sense.
///
/// The message `TemporaryExposureKey` of export.proto, read and written by hand because a file holds
/// hundreds of thousands of them. Documentation/KeyFiles.md 2.3.
struct KeyMessage: Equatable {
  var keyData: [UInt8]?
  var transmissionRiskLevel: Int32?
  var rollingStartIntervalNumber: Int32?
  var rollingPeriod: Int32?
  var reportType: ReportType?
  var daysSinceOnsetOfSymptoms: Int32?
  var variantOfConcern: VariantOfConcern?
}

extension KeyMessage {
  /// Reads one whole message; nil where it is malformed.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var cursor = ProtobufCursor(bytes)
    do throws(ProtobufCursor.Obstacle) {
      while !cursor.isAtEnd { try read(&cursor) }
    } catch {
      return nil
    }
  }

  private mutating func read(
    _ cursor: inout ProtobufCursor
  ) throws(ProtobufCursor.Obstacle) {
    let tag = try cursor.tag()
    switch (tag.number, tag.wireType) {
    case (1, .lengthDelimited): keyData = Array(try cursor.take(try cursor.length()))
    case (2, .varint): transmissionRiskLevel = try cursor.int32()
    case (3, .varint): rollingStartIntervalNumber = try cursor.int32()
    case (4, .varint): rollingPeriod = try cursor.int32()
    // A report type or a variant of tomorrow is as good as none, as proto2 has it.
    case (5, .varint): reportType = ReportType(rawValue: try cursor.int32()) ?? reportType
    case (6, .varint): daysSinceOnsetOfSymptoms = try cursor.sint32()
    case (8, .varint):
      variantOfConcern =
        UInt8(exactly: try cursor.int32()).flatMap(VariantOfConcern.init) ?? variantOfConcern
    default: try cursor.skip(tag.wireType)
    }
  }

  /// The message with the defaults of the format filled in; nil where no phone can have had such a key.
  var diagnosisKey: DiagnosisKey? {
    guard let start = UInt32(exactly: rollingStartIntervalNumber ?? 0),
      let period = UInt32(exactly: rollingPeriod ?? Int32(IntervalNumber.perDay)),
      let risk = UInt8(exactly: transmissionRiskLevel ?? 0),
      let key = TemporaryExposureKey(
        bytes: keyData ?? [], rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
    else { return nil }
    return DiagnosisKey(
      key: key, transmissionRiskLevel: risk, reportType: reportType,
      daysSinceOnsetOfSymptoms: daysSinceOnsetOfSymptoms, variantOfConcern: variantOfConcern)
  }
}

extension KeyMessage {
  /// What a key server writes: fields at their default are left out, as Google's does.
  ///
  /// Nil where the start does not fit the format's 31 bits.
  init?(_ key: DiagnosisKey) {
    guard let start = Int32(exactly: key.key.rollingStart.rawValue) else { return nil }
    keyData = key.key.secretBytes
    transmissionRiskLevel = key.transmissionRiskLevel == 0 ? nil : Int32(key.transmissionRiskLevel)
    rollingStartIntervalNumber = start == 0 ? nil : start
    let period = key.key.rollingPeriod
    rollingPeriod = period == IntervalNumber.perDay ? nil : Int32(period)
    reportType = key.reportType
    daysSinceOnsetOfSymptoms = key.daysSinceOnsetOfSymptoms
    variantOfConcern = key.variantOfConcern
  }

  /// The message in bytes: the fields that are set, ascending, zeros included.
  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    if let keyData { bytes.appendField(1, keyData) }
    if let transmissionRiskLevel { bytes.appendField(2, transmissionRiskLevel) }
    if let rollingStartIntervalNumber { bytes.appendField(3, rollingStartIntervalNumber) }
    if let rollingPeriod { bytes.appendField(4, rollingPeriod) }
    if let reportType { bytes.appendField(5, reportType.rawValue) }
    if let days = daysSinceOnsetOfSymptoms { bytes.appendField(6, zigzag: days) }
    if let variantOfConcern { bytes.appendField(8, Int32(variantOfConcern.rawValue)) }
    return bytes
  }
}

extension KeyMessage: CustomStringConvertible, CustomReflectable {
  var description: String { "KeyMessage" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

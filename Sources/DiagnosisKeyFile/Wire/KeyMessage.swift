import ExposureKeys

/// One key as a key file writes it: what is set. `KeyFields` reads it.
///
/// The message `TemporaryExposureKey` of export.proto, written by hand because a file holds hundreds
/// of thousands of them. Documentation/KeyFiles.md 2.3.
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

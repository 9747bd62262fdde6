import ExposureKeys

/// One usable key of a file, in 32 bytes: what hundreds of thousands of them are held as while they
/// are searched for. A `DiagnosisKey` is made of it where one is wanted.
package struct KeyRow: Sendable {
  /// The sixteen bytes of the key, as memory holds them.
  package let words: (UInt64, UInt64)
  /// The first interval of the key.
  package let rollingStart: UInt32
  private let days: Int32
  private let period: UInt8
  private let risk: UInt8
  private let report: Int8
  private let variant: Int8
  private let hasDays: Bool

  /// For how many intervals the key is used, 1...144.
  package var rollingPeriod: UInt32 { UInt32(period) }
  /// The last interval of the key.
  package var lastInterval: UInt32 { rollingStart + rollingPeriod - 1 }

  /// The row of `key`.
  package init(_ key: DiagnosisKey) {
    words = key.key.secretWords
    rollingStart = key.key.rollingStart.rawValue
    period = UInt8(key.key.rollingPeriod)
    risk = key.transmissionRiskLevel
    report = key.reportType.map { Int8($0.rawValue) } ?? Self.notStated
    variant = key.variantOfConcern.map { Int8($0.rawValue) } ?? Self.notStated
    days = key.daysSinceOnsetOfSymptoms ?? 0
    hasDays = key.daysSinceOnsetOfSymptoms != nil
  }

  /// The row of what a file says, with the defaults of the format filled in; nil where no phone can
  /// have had such a key (Documentation/KeyFiles.md 2.5).
  @inline(__always)
  init?(_ fields: borrowing KeyFields) {
    let (start, period) = (fields.rollingStart, fields.rollingPeriod)
    guard let bytes = fields.keyData, bytes.count == TemporaryExposureKey.byteCount, start >= 0,
      period >= 1, period <= Int32(IntervalNumber.perDay), fields.transmissionRiskLevel >= 0,
      fields.transmissionRiskLevel <= Int32(DiagnosisKey.transmissionRiskLevels.upperBound)
    else { return nil }
    words = (
      bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    )
    rollingStart = UInt32(truncatingIfNeeded: start)
    self.period = UInt8(truncatingIfNeeded: period)
    risk = UInt8(truncatingIfNeeded: fields.transmissionRiskLevel)
    report = fields.reportType
    variant = fields.variantOfConcern
    days = fields.days
    hasDays = fields.hasDays
  }

  /// In the place of a report type or a variant.
  static let notStated: Int8 = -1

  /// The key.
  package var diagnosisKey: DiagnosisKey {
    guard
      let key = TemporaryExposureKey(
        words: words, rollingStart: IntervalNumber(rawValue: rollingStart),
        rollingPeriod: rollingPeriod),
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: risk,
        reportType: ReportType(rawValue: Int32(report)),
        daysSinceOnsetOfSymptoms: hasDays ? days : nil,
        variantOfConcern: UInt8(exactly: variant).flatMap(VariantOfConcern.init))
    else { preconditionFailure("a row is only made of a key that can be") }
    return diagnosisKey
  }
}

extension KeyRow: CustomStringConvertible, CustomReflectable {
  package var description: String { "KeyRow" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

import ExposureKeys
import Secrets

/// Some diagnosis keys, 32 bytes each in one piece of memory; each becomes a `DiagnosisKey` as it is
/// looked at.
public struct KeyBatch: RandomAccessCollection, Sendable {
  /// The keys as they lie in memory: what the matcher reads.
  package let rows: [KeyRow]

  /// A batch of these rows.
  package init(rows: [KeyRow]) {
    self.rows = rows
  }

  /// A batch of `keys`, in their order.
  package init(_ keys: some Sequence<DiagnosisKey>) {
    rows = keys.map(KeyRow.init)
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many keys there are.
  public var endIndex: Int { rows.count }
  /// The key at `position`, made anew at each look.
  public subscript(position: Int) -> DiagnosisKey { rows[position].diagnosisKey }
}

extension KeyBatch: Redacted {}

/// Some keys of a file whose signature has not been checked yet.
///
/// What is learned from them counts only once `UnverifiedKeyFile.verified` has returned; where it
/// throws, it is to be forgotten.
public struct ProvisionalKeyBatch: Sendable {
  /// The keys, in the file's order.
  public let keys: KeyBatch
  /// Whether they replace what was published of them before.
  public let areRevised: Bool

  /// A batch of `keys` that come from elsewhere than a file: keys that were verified before, or those
  /// of a tool that measures.
  package init(keys: KeyBatch, areRevised: Bool = false) {
    self.keys = keys
    self.areRevised = areRevised
  }
}

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

extension KeyRow: Redacted {}

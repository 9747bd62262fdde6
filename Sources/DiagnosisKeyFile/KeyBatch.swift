// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Secrets

/// A batch of diagnosis keys in contiguous memory, 32 bytes each. Each access creates a `DiagnosisKey`.
public struct KeyBatch: RandomAccessCollection, Sendable {
  /// The keys in the form that the matcher reads.
  package let rows: [KeyRow]

  /// Creates a batch of these rows.
  package init(rows: [KeyRow]) {
    self.rows = rows
  }

  /// Creates a batch of `keys`, in their order.
  package init(_ keys: some Sequence<DiagnosisKey>) {
    rows = keys.map(KeyRow.init)
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of keys.
  public var endIndex: Int { rows.count }
  /// The key at `position`.
  public subscript(position: Int) -> DiagnosisKey { rows[position].diagnosisKey }
}

extension KeyBatch: Redacted {}

/// A valid key of a file in 32 bytes, the form in which hundreds of thousands of keys are searched.
package struct KeyRow: Sendable {
  /// The 16 bytes of the key, in memory order.
  package let words: (UInt64, UInt64)
  /// The first interval of the key.
  package let rollingStart: UInt32
  private let days: Int32
  private let period: UInt8
  private let risk: UInt8
  private let report: Int8
  private let variant: Int8
  private let hasDays: Bool

  /// The number of intervals in which the key is used, 1...144.
  package var rollingPeriod: UInt32 { UInt32(period) }
  /// The last interval of the key.
  package var lastInterval: UInt32 { rollingStart + rollingPeriod - 1 }

  /// Creates the row of `key`.
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

  /// Creates the row of the fields of a file. Returns nil if no phone can have had such a key.
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

  /// The value for a missing report type or variant.
  static let notStated: Int8 = -1

  /// The row as a diagnosis key.
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
    else { preconditionFailure("a row was made of an invalid key") }
    return diagnosisKey
  }
}

extension KeyRow: Redacted {}

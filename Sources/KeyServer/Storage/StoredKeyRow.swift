// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite
import Secrets
import ServerStorage

/// A row of `diagnosis_key` during an export.
struct StoredKeyRow {
  /// Nil if the size is wrong, which the table's check rules out.
  private let words: (UInt64, UInt64)?
  private let rollingStart: Int64
  private let rollingPeriod: Int64
  private let transmissionRisk: Int64
  private let reportType: Int64?
  private let daysSinceOnset: Int64?
  /// The comma-separated regions in UTF-8.
  let regions: [UInt8]
  let travels: Bool
  /// In Unix seconds.
  let releasedAt: Int64
  let isPadding: Bool
  /// The checksum of the values, as `PublishableKey.checksum(releasedAt:)`.
  let checksum: Int64
  private let storedChecksum: Int64
  private let revision: Revision?
  private let storedRevisionChecksum: Int64?
  /// The end of the exported period, in Unix seconds.
  private let end: Int64

  private struct Revision {
    let reportType: Int64?
    let transmissionRisk: Int64?
    let daysSinceOnset: Int64?
    /// In Unix seconds.
    let releasedAt: Int64
  }

  /// - Parameters:
  ///   - values: The values of `Column.list`.
  ///   - regions: The regions of an earlier row, which usually are those of this row, too.
  init(_ values: SQLiteValues, end: Int64, regions earlier: [UInt8]) {
    words = values.words(Column.keyData.rawValue)
    rollingStart = values.number(Column.rollingStart.rawValue)
    rollingPeriod = values.number(Column.rollingPeriod.rawValue)
    transmissionRisk = values.number(Column.transmissionRisk.rawValue)
    reportType = values.numberIfAny(Column.reportType.rawValue)
    daysSinceOnset = values.numberIfAny(Column.daysSinceOnset.rawValue)
    let text = values.bytes(Column.regions.rawValue)
    regions = earlier.elementsEqual(text) ? earlier : Array(text)
    let travels = values.number(Column.travels.rawValue)
    releasedAt = values.number(Column.releasedAt.rawValue)
    let isPadding = values.number(Column.isPadding.rawValue)
    (self.travels, self.isPadding) = (travels != 0, isPadding != 0)
    storedChecksum = values.number(Column.checksum.rawValue)
    revision = values.numberIfAny(Column.revisedReleasedAt.rawValue).map {
      Revision(
        reportType: values.numberIfAny(Column.revisedReportType.rawValue),
        transmissionRisk: values.numberIfAny(Column.revisedTransmissionRisk.rawValue),
        daysSinceOnset: values.numberIfAny(Column.revisedDaysSinceOnset.rawValue),
        releasedAt: $0)
    }
    storedRevisionChecksum = values.numberIfAny(Column.revisionChecksum.rawValue)
    self.end = end
    var checksum = RowChecksum()
    checksum.add(words?.0 ?? 0)
    checksum.add(words?.1 ?? 0)
    for number in [rollingStart, rollingPeriod, transmissionRisk] { checksum.add(number) }
    checksum.add(reportType)
    checksum.add(daysSinceOnset)
    checksum.add(text)
    for number in [travels, releasedAt, isPadding] { checksum.add(number) }
    self.checksum = checksum.value
  }

  /// The columns of a row, in the order of `SQLiteValues`.
  enum Column: Int, CaseIterable {
    case keyData, rollingStart, rollingPeriod, transmissionRisk, reportType, daysSinceOnset
    case regions, travels, releasedAt, isPadding, checksum
    case revisedReportType, revisedTransmissionRisk, revisedDaysSinceOnset, revisedReleasedAt
    case revisionChecksum

    static let list = """
      key_data, rolling_start, rolling_period, transmission_risk, report_type, days_since_onset, \
      regions, travels, released_at, is_padding, checksum, \
      revised_report_type, revised_transmission_risk, revised_days_since_onset, \
      revised_released_at, revision_checksum
      """
  }

  var keyData: Data {
    words.map { withUnsafeBytes(of: $0) { Data($0) } } ?? Data()
  }

  /// The revision that was made before the period's end; later ones belong to later files.
  private var publishedRevision: Revision? {
    revision.flatMap { $0.releasedAt < end ? $0 : nil }
  }

  /// In Unix seconds; nil if the key was never revised.
  var revisedReleasedAt: Int64? { revision?.releasedAt }

  /// True if the key was revoked before the period's end.
  var isRevoked: Bool {
    publishedRevision?.reportType == Int64(ReportType.revoked.rawValue)
  }

  /// Returns the key as it is published in the period, with its original or its revised properties.
  ///
  /// - Throws: `DatabaseError` if the values are not those of a key, which the table's checks rule out.
  func key() throws -> DiagnosisKey {
    var (risk, type, days) = (Optional(transmissionRisk), reportType, daysSinceOnset)
    if let revision = publishedRevision {
      (risk, type, days) = (revision.transmissionRisk, revision.reportType, revision.daysSinceOnset)
    }
    guard let words, let start = UInt32(exactly: rollingStart),
      let period = UInt32(exactly: rollingPeriod),
      let risk = risk.flatMap({ UInt8(exactly: $0) }),
      let key = TemporaryExposureKey(
        words: words, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period),
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: risk,
        reportType: type.flatMap { Int32(exactly: $0) }.flatMap(ReportType.init),
        daysSinceOnsetOfSymptoms: days.flatMap { Int32(exactly: $0) })
    else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    return diagnosisKey
  }

  /// True if the values are those that were stored.
  var isIntact: Bool {
    storedChecksum == checksum && storedRevisionChecksum == revisionChecksum
  }

  /// As `PublishableKey.revisionChecksum`; nil if the key was never revised.
  var revisionChecksum: Int64? {
    guard let revision else { return nil }
    var checksum = RowChecksum()
    checksum.add(words?.0 ?? 0)
    checksum.add(words?.1 ?? 0)
    checksum.add(revision.reportType)
    checksum.add(revision.transmissionRisk)
    checksum.add(revision.daysSinceOnset)
    checksum.add(revision.releasedAt)
    return checksum.value
  }
}

extension StoredKeyRow: Redacted {}

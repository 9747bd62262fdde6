// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import PostgreSQL
import Secrets
import ServerStorage
import TextEncodings
import World

/// A key with its revision, as `COPY` returns it.
struct PostgreSQLKeyRow {
  /// The selection of keys, in the order of their bytes.
  enum Selection {
    /// The keys that were released in the period, apart from those revoked before its end.
    case released(PeriodKeyRange)
    /// The keys that were released before the period and revised in it.
    case revised(PeriodKeyRange)
    /// The keys that were released before the end of the period, whether or not they were revised.
    case earlier(PeriodKeyRange)
    /// All keys that do not count as removed, each with its revision.
    case all
  }

  private let stored: Values
  let releasedAt: Int64
  private let checksum: Int64
  private let revision: Revision?

  private struct Revision {
    var releasedAt: Int64
    var checksum: Int64
    var reportType: Int64?
    var daysSinceOnset: Int64?
    var transmissionRisk: Int64?
  }

  /// Calls `body` for each key of the selection.
  static func read(
    _ selection: Selection, _ transaction: PostgreSQLTransaction,
    _ body: (PostgreSQLKeyRow) throws -> Void
  ) throws {
    try transaction.copyOut("COPY (\(selection.sql)) TO STDOUT (FORMAT binary)") { row in
      try body(try PostgreSQLKeyRow(&row))
    }
  }

  /// - Throws: `PostgreSQLError` if the columns are not those of a key.
  private init(_ row: inout PostgreSQLCopiedRow) throws {
    let words = row.nextBytes().flatMap { bytes in
      bytes.count == TemporaryExposureKey.byteCount
        ? bytes.loadUnaligned(as: (UInt64, UInt64).self) : nil
    }
    let start = row.nextInteger()
    let period = row.nextInteger()
    let risk = row.nextInteger()
    let type = row.nextInteger()
    let days = row.nextInteger()
    let regions = row.nextBytes().map { String(decoding: $0, as: UTF8.self) }
    let travels = row.nextBool()
    let releasedAt = row.nextInteger()
    let isPadding = row.nextBool()
    let checksum = row.nextInteger()
    guard let words, let start, let period, let risk, let regions, let releasedAt, let checksum
    else { throw PostgreSQLError(.damaged, "a key has missing columns") }
    stored = Values(
      words: words, rollingStart: start, rollingPeriod: period, transmissionRisk: risk,
      reportType: type, daysSinceOnset: days, regions: regions, travels: travels,
      releasedAt: releasedAt, isPadding: isPadding)
    self.releasedAt = releasedAt
    self.checksum = checksum
    let revisedReleasedAt = row.nextInteger()
    let revisionChecksum = row.nextInteger()
    let (revisedType, revisedDays) = (row.nextInteger(), row.nextInteger())
    let revisedRisk = row.nextInteger()
    revision = revisedReleasedAt.map {
      Revision(
        releasedAt: $0, checksum: revisionChecksum ?? 0, reportType: revisedType,
        daysSinceOnset: revisedDays, transmissionRisk: revisedRisk)
    }
  }

  var isPadding: Bool { stored.isPadding }
  var travels: Bool { stored.travels }
  /// Comma-separated, sorted.
  var regions: String { stored.regions }

  /// True if the values are those that were stored.
  var isIntact: Bool {
    guard checksum == stored.checksum(releasedAt: releasedAt) else { return false }
    guard let revision else { return true }
    return revision.checksum == revised(by: revision).revisionChecksum
  }

  private func revised(by revision: Revision) -> Values {
    var key = stored
    key.reportType = revision.reportType
    key.daysSinceOnset = revision.daysSinceOnset
    key.transmissionRisk = revision.transmissionRisk ?? -1
    key.releasedAt = revision.releasedAt
    return key
  }

  /// Returns the key as it is published in a period that ends at `end`, with its original or its revised properties.
  ///
  /// - Throws: `PostgreSQLError` if the values are not those of a key, which the table's checks rule out.
  func key(publishedBy end: Int64) throws -> DiagnosisKey {
    let isRevised = revision.map { $0.releasedAt < end } ?? false
    let values = if isRevised, let revision { revised(by: revision) } else { stored }
    guard let start = UInt32(exactly: values.rollingStart),
      let period = UInt32(exactly: values.rollingPeriod),
      let risk = UInt8(exactly: values.transmissionRisk),
      let key = TemporaryExposureKey(
        words: values.words, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period),
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: risk,
        reportType: values.reportType.flatMap { Int32(exactly: $0) }.flatMap(ReportType.init),
        daysSinceOnsetOfSymptoms: values.daysSinceOnset.flatMap { Int32(exactly: $0) })
    else { throw PostgreSQLError(.damaged, "a key has invalid values") }
    return diagnosisKey
  }
}

extension PostgreSQLKeyRow {
  /// Returns the key with its regions, as it is published in a period that ends at `end`.
  ///
  /// - Throws: As `key(publishedBy:)`.
  func publishableKey(publishedBy end: Int64) throws -> PublishableKey {
    PublishableKey(
      key: try key(publishedBy: end), regions: regions.split(separator: ",").map(String.init),
      travels: travels, releasedAt: Date(unixSecond: releasedAt), isPadding: isPadding)
  }
}

extension PostgreSQLKeyRow: Redacted {}

/// The stored values of a key or of its revision, which may be damaged.
private struct Values {
  /// The 16 bytes of the key.
  var words: (UInt64, UInt64)
  var rollingStart: Int64
  var rollingPeriod: Int64
  var transmissionRisk: Int64
  var reportType: Int64?
  var daysSinceOnset: Int64?
  /// Comma-separated, sorted.
  var regions: String
  var travels: Bool
  /// In Unix seconds.
  var releasedAt: Int64
  /// True for padding, the keys of made-up users.
  var isPadding: Bool

  /// The checksum of the row if it is released at `releasedAt`.
  func checksum(releasedAt: Int64) -> Int64 {
    var checksum = RowChecksum()
    checksum.add(words.0)
    checksum.add(words.1)
    checksum.add(rollingStart)
    checksum.add(rollingPeriod)
    checksum.add(transmissionRisk)
    checksum.add(reportType)
    checksum.add(daysSinceOnset)
    var regions = regions
    regions.withUTF8 { checksum.add(UnsafeRawBufferPointer($0)) }
    checksum.add(Int64(travels ? 1 : 0))
    checksum.add(releasedAt)
    checksum.add(Int64(isPadding ? 1 : 0))
    return checksum.value
  }

  /// The checksum of the columns of a revision that has the values of this key.
  var revisionChecksum: Int64 {
    var checksum = RowChecksum()
    checksum.add(words.0)
    checksum.add(words.1)
    checksum.add(reportType)
    checksum.add(Optional(transmissionRisk))
    checksum.add(daysSinceOnset)
    checksum.add(releasedAt)
    return checksum.value
  }
}

extension Values: Redacted {}

/// A period, and the range of keys of one of its files.
struct PeriodKeyRange {
  /// Unix seconds.
  let start: Int64
  /// Unix seconds.
  let end: Int64
  var firstKey: Data?
  var beforeKey: Data?

  init(_ selection: KeySelection) {
    (start, end) = (selection.start.unixSecond, selection.end.unixSecond)
    (firstKey, beforeKey) = (selection.firstKey, selection.beforeKey)
  }

  /// The keys with this first byte that were released before `end`.
  init(before end: Int64, firstByte: UInt8) {
    (start, self.end) = (.min, end)
    firstKey = Data([firstByte])
    beforeKey = firstByte < .max ? Data([firstByte + 1]) : nil
  }

  /// The condition of released keys, for `diagnosis_key AS k`.
  var released: String {
    """
    \(releasedInPeriod) AND NOT EXISTS (
      SELECT FROM key_revision AS v WHERE v.key_data = k.key_data AND \(revoked))
    """
  }

  /// The condition of keys that were released in the period, also of those revoked before its end, for
  /// `diagnosis_key AS k`. Removed keys stay in their partition for up to a day.
  var releasedInPeriod: String {
    """
    k.released_at >= \(start) AND k.released_at < \(end)
      AND k.released_at >= (SELECT keys_from FROM server_state)
    """
  }

  /// The condition of keys that were revoked before the end of the period, for `key_revision AS v`.
  var revoked: String {
    "v.revised_released_at < \(end) AND v.revised_report_type = \(ReportType.revoked.rawValue)"
  }

  /// The condition of revised keys, for `key_revision AS r`.
  var revised: String {
    "r.revised_released_at >= \(start) AND r.revised_released_at < \(end) AND r.released_at < \(start)"
  }

  /// The condition of the range of a file. `COPY` takes no parameters.
  func range(of column: String) -> String {
    var condition = ""
    if let firstKey { condition += " AND \(column) >= '\\x\(firstKey.hexadecimal)'" }
    if let beforeKey { condition += " AND \(column) < '\\x\(beforeKey.hexadecimal)'" }
    return condition
  }
}

extension PostgreSQLKeyRow.Selection {
  private static let keyColumns = [
    "key_data", "rolling_start", "rolling_period", "transmission_risk", "report_type",
    "days_since_onset", "regions", "travels", "released_at", "is_padding", "checksum",
  ]
  private static let revisionColumns = [
    "revised_released_at", "revision_checksum", "revised_report_type", "revised_days_since_onset",
    "revised_transmission_risk",
  ]

  private static func columns(of key: String) -> String {
    (keyColumns.map { "\(key).\($0)" } + revisionColumns.map { "r.\($0)" })
      .joined(separator: ", ")
  }

  fileprivate var sql: String {
    let join = """
      SELECT \(Self.columns(of: "k")) FROM diagnosis_key AS k LEFT JOIN key_revision AS r USING (key_data)
      """
    let revised = "SELECT \(Self.columns(of: "r")) FROM key_revision AS r"
    switch self {
    case .released(let range):
      return """
        \(join) WHERE \(range.released)\(range.range(of: "k.key_data")) ORDER BY k.key_data
        """
    case .earlier(let range):
      return "\(join) WHERE k.released_at < \(range.end)\(range.range(of: "k.key_data"))"
    case .revised(let range):
      return "\(revised) WHERE \(range.revised)\(range.range(of: "r.key_data")) ORDER BY r.key_data"
    case .all:
      return """
        SELECT \(Self.columns(of: "k")) FROM diagnosis_key AS k LEFT JOIN key_revision AS r ON false
        WHERE k.released_at >= (SELECT keys_from FROM server_state)
          AND NOT EXISTS (SELECT FROM key_revision AS v WHERE v.key_data = k.key_data)
        UNION ALL \(revised)
        """
    }
  }
}

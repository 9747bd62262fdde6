// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import PostgreSQL
import Secrets
import ServerStorage
import World

/// Stores a group of uploads in one transaction of two round trips: one that finds used tokens and known keys, and one
/// that stores and commits. A key that a filter of an earlier partition may contain takes one more.
///
/// A token or key that another process stores in between violates a primary key. Then the transaction is repeated, and
/// the first round trip finds it.
struct PostgreSQLUploads {
  private let uploads: [AdmittedUpload]
  private let process: Int16
  private let filters: KeyPartitionFilters
  /// The first moment that no export has closed.
  private var openFrom = Date(unixSecond: 0)
  /// The moment at which the keys were looked up.
  private(set) var moment = KeyPartitionFilters.Moment(history: "", openDay: 0)
  /// The stored results by token.
  private var results: [Data: (uploadDigest: Data, response: Data)] = [:]
  /// The reports of the stored keys by their bytes, and of those of earlier uploads of the group.
  private var known: [Data: StoredReport] = [:]
  /// Keys that count as removed and whose partition was not dropped yet.
  private var expired: [Data] = []
  private var changes = Changes()

  /// The rows to store.
  private struct Changes {
    var uploads: [(token: UsedToken, digest: Data, response: Data)] = []
    var keys: [PublishableKey] = []
    var revisions: [PublishableKey] = []
    var tally = StatisticTally()
  }

  /// - Parameters:
  ///   - process: The number of this process in the statistics.
  ///   - filters: The filters of the keys in earlier partitions.
  init(_ uploads: [AdmittedUpload], process: Int16, filters: KeyPartitionFilters) {
    self.uploads = uploads
    self.process = process
    self.filters = filters
  }

  /// Stores the uploads in order, commits, and returns their results.
  mutating func accept(_ transaction: PostgreSQLTransaction) throws -> [Acceptance] {
    (changes, results, known, expired) = (Changes(), [:], [:], [])
    try find(uploads.flatMap(\.keys), transaction)
    let acceptances = try uploads.map { try decide($0) }
    guard !changes.uploads.isEmpty else { return acceptances }
    do throws(PostgreSQLError) {
      _ = try transaction.runLast(statements)
    } catch {
      // A check of the table that fails has the same code, and a name.
      guard error.sqlState == Self.missingPartition, error.constraint == nil else { throw error }
      throw MissingPartition(partition: partition)
    }
    return acceptances
  }

  /// Stores the keys of another server's file and remembers it, and commits.
  ///
  /// - Returns: The number of inserted and of revised keys.
  mutating func importKeys(
    _ imported: ImportedKeys, _ transaction: PostgreSQLTransaction
  ) throws -> (inserted: Int, revised: Int) {
    let file = try transaction.run(
      """
      INSERT INTO imported_file (sha256, source, imported_at) VALUES ($1, $2, $3)
      ON CONFLICT DO NOTHING
      """, .bytes(imported.sha256), .text(imported.source), .integer(imported.at.unixSecond))
    // Another import has stored the file since it was looked for.
    guard file.changedCount > 0 else { return (0, 0) }
    try find(imported.keys + imported.revised, transaction)
    try partition.create(transaction)
    add(imported.keys)
    for key in imported.revised {
      let known = known[Data(key.bytes)]
      switch RevisionRule.outcome(ofImported: key.key, known: known) {
      case .insert: add([key])
      case .revise: revise(key.released(from: openFrom))
      case .leave, .drop, .refuse: break
      }
    }
    _ = try transaction.runLast(keyChanges)
    return (changes.keys.count, changes.revisions.count)
  }

  /// No partition has the day of the keys.
  struct MissingPartition: Error {
    let partition: KeyPartition
  }

  private static let missingPartition = "23514"

  private var partition: KeyPartition { KeyPartition(day: openFrom.unixDay) }

  /// Returns the stored result for the token of `upload`, or nil if the token is unused.
  static func acceptance(
    of upload: AdmittedUpload, _ transaction: PostgreSQLTransaction
  ) throws -> Acceptance? {
    let rows = try transaction.run(
      "SELECT upload_digest, response FROM upload WHERE token_digest = $1",
      .bytes(upload.token.digest))
    guard rows.count > 0, let digest = rows.bytes(0, 0), let response = rows.bytes(0, 1) else {
      return nil
    }
    return acceptance(of: upload, digest, response)
  }

  private static func acceptance(
    of upload: AdmittedUpload, _ digest: Data, _ response: Data
  ) -> Acceptance {
    isEqualInConstantTime(digest, upload.digest) ? .accepted(response: response) : .tokenUsed
  }

  /// Reads the state, the used tokens and the known keys. The lock is taken first: with it, no period can be closed.
  private mutating func find(
    _ keys: [PublishableKey], _ transaction: PostgreSQLTransaction
  ) throws {
    let lookup = filters.lookup(keys)
    let words = keys.map(\.key.key.secretWords)
    let rows = try transaction.run([
      PostgreSQLStatement(
        "SELECT pg_advisory_xact_lock_shared($1)",
        .integer(PostgreSQLServerDatabase.Lock.periods.rawValue)),
      PostgreSQLStatement(
        """
        SELECT (SELECT keys_from FROM server_state), \(KeyPartitionFilters.Moment.columns)
        FROM period_progress
        """),
      PostgreSQLStatement(Self.withIndexes),
      PostgreSQLStatement(
        "SELECT token_digest, upload_digest, response FROM upload WHERE token_digest = ANY ($1)",
        .byteStrings(uploads.map(\.token.digest))),
      PostgreSQLStatement(
        Self.currentKeys, .byteStrings(words), .integer(lookup.firstDay)),
      PostgreSQLStatement(
        """
        SELECT key_data, report_type, revised_report_type, NULL FROM key_revision
        WHERE key_data = ANY ($1)
        """, .byteStrings(words)),
    ])
    let (state, tokens) = (rows[1], rows[3])
    let keysFrom = state.integer(0, 0) ?? 0
    openFrom = Date(unixSecond: state.integer(0, 2) ?? 0)
    moment = KeyPartitionFilters.Moment(history: state.text(0, 1) ?? "", openFrom: openFrom)
    for row in tokens.indices {
      guard let token = tokens.bytes(row, 0) else { continue }
      results[token] = (tokens.bytes(row, 1) ?? Data(), tokens.bytes(row, 2) ?? Data())
    }
    let suspects = filters.confirm(lookup, at: moment) ? lookup.suspects : words
    if !suspects.isEmpty {
      let earlier = try transaction.run(
        Self.earlierKeys, .byteStrings(suspects), .integer(lookup.firstDay))
      addKnown(earlier, from: keysFrom)
    }
    addKnown(rows[4], from: keysFrom)
    // Revisions are the last rows, and replace their keys.
    addKnown(rows[5], from: keysFrom)
    expired.removeAll { known[$0] != nil }
  }

  /// Before the tables were analysed for the first time, PostgreSQL takes them for small ones, and would read them as a
  /// whole for each group of uploads. The cost that it adds to such plans would make it compile them.
  private static let withIndexes = """
    SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)
    """

  private static let currentKeys = """
    SELECT key_data, report_type, NULL::integer, released_at FROM diagnosis_key
    WHERE key_data = ANY ($1) AND stored_day >= $2
    """

  private static let earlierKeys = """
    SELECT key_data, report_type, NULL::integer, released_at FROM diagnosis_key
    WHERE key_data = ANY ($1) AND stored_day < $2
    """

  /// - Parameter start: Keys that were released earlier count as removed, unless they were revised.
  private mutating func addKnown(_ rows: PostgreSQLRows, from start: Int64) {
    for row in rows.indices {
      guard let bytes = rows.bytes(row, 0) else { continue }
      if let releasedAt = rows.integer(row, 3), releasedAt < start {
        expired.append(bytes)
      } else {
        known[bytes] = StoredReport(
          type: Self.reportType(rows.integer(row, 1)),
          revisedType: Self.reportType(rows.integer(row, 2)))
      }
    }
  }

  private static func reportType(_ number: Int64?) -> ReportType? {
    number.flatMap { Int32(exactly: $0) }.flatMap(ReportType.init)
  }

  private mutating func decide(_ upload: AdmittedUpload) throws -> Acceptance {
    if let result = results[upload.token.digest] {
      return Self.acceptance(of: upload, result.uploadDigest, result.response)
    }
    let decision: AdmittedUpload.Decision
    do {
      decision =
        known.isEmpty ? upload.decisionIfNew : try upload.decision(known: known)
    } catch let refusal as RevisionRefusal {
      return .refused(refusal)
    }
    add(decision.plan.inserted)
    for key in decision.plan.revised { revise(key.released(from: openFrom)) }
    changes.uploads.append((upload.token, upload.digest, decision.response))
    changes.tally.add(upload.facts, decision.plan.outcome)
    results[upload.token.digest] = (upload.digest, decision.response)
    return .accepted(response: decision.response)
  }

  private mutating func add(_ keys: [PublishableKey]) {
    for key in keys {
      let bytes = Data(key.bytes)
      // An upload may contain a key twice.
      guard known[bytes] == nil else { continue }
      known[bytes] = StoredReport(type: key.key.reportType, revisedType: nil)
      changes.keys.append(key)
    }
  }

  private mutating func revise(_ key: PublishableKey) {
    let bytes = Data(key.bytes)
    known[bytes] = StoredReport(type: known[bytes]?.type, revisedType: key.key.reportType)
    changes.revisions.append(key)
  }

  private var statements: [PostgreSQLStatement] {
    [uploadInsertion] + keyChanges + [statisticChange]
  }

  private var keyChanges: [PostgreSQLStatement] {
    var statements: [PostgreSQLStatement] = []
    if !expired.isEmpty {
      statements.append(
        PostgreSQLStatement(
          "DELETE FROM diagnosis_key WHERE key_data = ANY ($1)", .byteStrings(expired)))
    }
    if !changes.keys.isEmpty {
      statements.append(
        Self.insertion(changes.keys, releasedFrom: openFrom.unixSecond, into: partition))
    }
    if !changes.revisions.isEmpty { statements.append(revisionInsertion) }
    return statements
  }

  private var uploadInsertion: PostgreSQLStatement {
    let uploads = changes.uploads.sorted {
      $0.token.digest.lexicographicallyPrecedes($1.token.digest)
    }
    return PostgreSQLStatement(
      """
      INSERT INTO upload (token_digest, kept_until, upload_digest, response)
      SELECT * FROM unnest($1, $2, $3, $4)
      """,
      .byteStrings(uploads.map(\.token.digest)),
      .integers(uploads.map { $0.token.keptUntil.unixSecond }),
      .byteStrings(uploads.map(\.digest)), .byteStrings(uploads.map(\.response)))
  }

  /// Inserts keys, sorted, so that two processes with the same keys do not block each other.
  ///
  /// - Parameter start: The earliest release of the keys; all periods before it are closed.
  static func insertion(
    _ keys: [PublishableKey], releasedFrom start: Int64, into partition: KeyPartition
  ) -> PostgreSQLStatement {
    let keys = keys.sorted { KeyWords($0) < KeyWords($1) }
    let releases = keys.map { max($0.releasedAt.unixSecond, start) }
    return PostgreSQLStatement(
      """
      INSERT INTO diagnosis_key (key_data, rolling_start, rolling_period, transmission_risk,
        report_type, days_since_onset, regions, travels, released_at, is_padding, checksum, stored_day)
      SELECT a, b, c, d, e, f, g, h = 1, i, j = 1, k, $12
      FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS row (a, b, c, d, e, f, g, h, i, j, k)
      """,
      .byteStrings(keys.map { $0.key.key.secretWords }),
      .integers(keys.map { Int64($0.key.key.rollingStart.rawValue) }),
      .integers(keys.map { Int64($0.key.key.rollingPeriod) }),
      .integers(keys.map { Int64($0.key.transmissionRiskLevel) }),
      .integers(keys.map { $0.storedReportType }), .integers(keys.map { $0.storedDays }),
      .texts(keys.map { $0.regionsText }), .integers(keys.map { $0.travels ? 1 : 0 }),
      .integers(releases),
      .integers(keys.map { $0.isPadding ? 1 : 0 }),
      .integers(zip(keys, releases).map { $0.checksum(releasedAt: $1) }), .integer(partition.day))
  }

  private var revisionInsertion: PostgreSQLStatement {
    let keys = changes.revisions
    return PostgreSQLStatement(
      """
      INSERT INTO key_revision (key_data, rolling_start, rolling_period, transmission_risk,
        report_type, days_since_onset, regions, travels, released_at, is_padding, checksum,
        revised_report_type, revised_transmission_risk, revised_days_since_onset,
        revised_released_at, revision_checksum)
      SELECT key_data, rolling_start, rolling_period, transmission_risk, report_type,
        days_since_onset, regions, travels, released_at, is_padding, checksum, b, c, d, e, f
      FROM unnest($1, $2, $3, $4, $5, $6) AS revised (a, b, c, d, e, f)
      JOIN diagnosis_key ON key_data = a
      """,
      .byteStrings(keys.map { $0.key.key.secretWords }),
      .integers(keys.map { $0.storedReportType }),
      .integers(keys.map { Int64($0.key.transmissionRiskLevel) }),
      .integers(keys.map { $0.storedDays }), .integers(keys.map { $0.releasedAt.unixSecond }),
      .integers(keys.map { $0.revisionChecksum }))
  }

  private var statisticChange: PostgreSQLStatement {
    let counts = changes.tally.counts
    return PostgreSQLStatement(
      """
      INSERT INTO statistic (hour, issuer, kind, bucket, count, process)
      SELECT a, b, c, d, e, $6 FROM unnest($1, $2, $3, $4, $5) AS row (a, b, c, d, e)
      ON CONFLICT (hour, issuer, kind, bucket, process)
      DO UPDATE SET count = statistic.count + excluded.count
      """,
      .integers(counts.map { $0.place.hour }), .texts(counts.map(\.place.issuer)),
      .texts(counts.map(\.place.kind.rawValue)), .integers(counts.map { Int64($0.place.bucket) }),
      .integers(counts.map { Int64($0.count) }), .integer(Int64(process)))
  }
}

extension PostgreSQLUploads: Redacted {}

extension PublishableKey {
  /// The number of the report type as it is stored.
  fileprivate var storedReportType: Int64? { key.reportType.map { Int64($0.rawValue) } }

  /// The days since the onset of symptoms as they are stored.
  fileprivate var storedDays: Int64? { key.daysSinceOnsetOfSymptoms.map(Int64.init) }
}

/// The 16 bytes of a key, ordered as its bytes.
private struct KeyWords: Comparable, Redacted {
  private let first: UInt64
  private let second: UInt64

  init(_ words: (UInt64, UInt64)) { (first, second) = (words.0.bigEndian, words.1.bigEndian) }

  init(_ key: PublishableKey) { self.init(key.key.key.secretWords) }

  static func < (left: KeyWords, right: KeyWords) -> Bool {
    (left.first, left.second) < (right.first, right.second)
  }
}

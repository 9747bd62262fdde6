// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import KeyServerAPI
import PostgreSQL
import Secrets
import ServerStorage
import World

extension PostgreSQLKeyStore {
  /// The lock of the folder is not taken: a process that hangs would hold it longer than its lease.
  func exporting<Value: Sendable>(
    into folder: URL, _ work: @Sendable () async throws -> Value
  ) async throws -> Value? {
    let lease = lease
    guard let fence = try await write(isRepeatable: true, { try lease.take($0) }) else {
      return nil
    }
    lease.hold(fence)
    defer { lease.hold(nil) }
    do {
      let value = try await work()
      try await write { try lease.release(fence, $0) }
      return value
    } catch is ExportLease.Lost {
      return nil
    } catch {
      // It ends by itself if the database cannot be reached.
      try? await write { try lease.release(fence, $0) }
      throw error
    }
  }

  func confirmExporting() async throws {
    guard lease.heldFence != nil else { return }
    try await write { [lease] in try lease.renew($0) }
  }

  func withdrawnFiles() async throws -> Set<KeyFileHash> {
    try await read { try Self.withdrawnFiles($0) }
  }

  static func withdrawnFiles(_ transaction: PostgreSQLTransaction) throws -> Set<KeyFileHash> {
    let rows = try transaction.run("SELECT sha256 FROM withdrawn_file")
    return Set(rows.indices.compactMap { row in rows.bytes(row, 0).flatMap { KeyFileHash($0) } })
  }

  func setFiles(_ hashes: [KeyFileHash], areWithdrawn: Bool, at now: Date) async throws {
    let bytes: [Data] = hashes.map(\.bytes)
    try await write { transaction in
      let statement =
        if areWithdrawn {
          PostgreSQLStatement(
            """
            INSERT INTO withdrawn_file (sha256, withdrawn_at)
            SELECT a, $2 FROM unnest($1) AS row (a)
            ON CONFLICT (sha256) DO UPDATE SET withdrawn_at = excluded.withdrawn_at
            """, .byteStrings(bytes), .integer(now.unixSecond))
        } else {
          PostgreSQLStatement(
            "DELETE FROM withdrawn_file WHERE sha256 = ANY ($1)", .byteStrings(bytes))
        }
      _ = try transaction.runLast([statement])
    }
  }

  func exportProgress() async throws -> ExportProgress {
    try await read { try Self.progress($0) }
  }

  static func progress(_ transaction: PostgreSQLTransaction) throws -> ExportProgress {
    let rows = try transaction.run("SELECT export, closed_until FROM period_progress")
    var progress = ExportProgress()
    for row in rows.indices {
      guard let export = rows.text(row, 0), let end = rows.integer(row, 1) else { continue }
      progress.closedUntil[export] = Date(unixSecond: end)
    }
    return progress
  }

  /// Stores the start of the first period of each new one of `exports`. The first export of a database also gets the
  /// keys that were imported before it.
  static func begin(
    _ exports: [ExportConfiguration], at now: Date, _ transaction: PostgreSQLTransaction
  ) throws {
    guard !exports.isEmpty else { return }
    try transaction.run(
      "SELECT pg_advisory_xact_lock($1)", .integer(PostgreSQLServerDatabase.Lock.periods.rawValue))
    let earlier = try progress(transaction)
    var begun = earlier
    begun.begin(exports, at: now)
    for (export, end) in begun.closedUntil where earlier.closedUntil[export] == nil {
      try set(export, to: end, transaction)
    }
    try KeyPartition(day: begun.openFrom.unixDay).create(transaction)
    if earlier.closedUntil.isEmpty { try release(from: begun.openFrom, transaction) }
  }

  fileprivate static func set(
    _ export: String, to end: Date, _ transaction: PostgreSQLTransaction
  ) throws {
    try transaction.run(
      """
      INSERT INTO period_progress (export, closed_until) VALUES ($1, $2)
      ON CONFLICT (export) DO UPDATE SET closed_until = excluded.closed_until
      """, .text(export), .integer(end.unixSecond))
  }

  /// Waits for running uploads, and lets no other begin: their keys are released after the closed periods.
  func closing<Result: Sendable>(
    _ body: @escaping @Sendable (any ClosingRows) throws -> Result
  ) async throws -> Result {
    try await write(seconds: PostgreSQLLimit.longRequestSeconds) { [lease] transaction in
      try lease.renew(transaction)
      try transaction.run(
        "SELECT pg_advisory_xact_lock($1)",
        .integer(PostgreSQLServerDatabase.Lock.periods.rawValue))
      return try body(PostgreSQLClosingRows(transaction: transaction))
    }
  }

  func batches() async throws -> [Batch] {
    try await read { transaction in
      let rows = try transaction.run(
        "SELECT \(BatchColumns.list) FROM export_file ORDER BY end_at, export COLLATE \"C\"")
      return try rows.indices.map { try BatchColumns.batch(rows, $0) }
    }
  }

  func written(_ batch: Batch, sha256: Data, paddingCount: Int, at now: Date) async throws {
    try await write { [lease] transaction in
      try lease.renew(transaction)
      _ = try transaction.runLast([
        PostgreSQLStatement(
          """
          UPDATE export_file SET
            earlier_sha256 = coalesce(earlier_sha256, '') || coalesce(sha256, ''),
            sha256 = $1, padding = $2, edition = $3, written_at = coalesce(written_at, $4)
          WHERE export = $5 AND start_at = $6 AND end_at = $7 AND sha256 IS DISTINCT FROM $1
          """,
          .bytes(sha256), .integer(paddingCount), .integer(batch.edition),
          .integer(now.unixSecond), .text(batch.export), .integer(batch.start.unixSecond),
          .integer(batch.end.unixSecond))
      ])
    }
  }

  func withKeys<Result: Sendable>(
    of batch: Batch, _ body: @escaping @Sendable (BatchKeys) throws -> Result
  ) async throws -> Result {
    try await read(seconds: PostgreSQLLimit.longRequestSeconds) { [skippedRows] transaction in
      let keys = FileKeys(batch: batch, skippedRows: skippedRows, transaction: transaction)
      return try body(BatchKeys { try keys.forEach($0) })
    }
  }
}

/// The rows of a transaction that closes periods.
private struct PostgreSQLClosingRows: ClosingRows {
  let transaction: PostgreSQLTransaction

  func progress() throws -> ExportProgress { try PostgreSQLKeyStore.progress(transaction) }

  func setClosed(_ root: String, until end: Date) throws {
    try PostgreSQLKeyStore.set(root, to: end, transaction)
    try partition().create(transaction)
  }

  func releasedCounts(of selections: [CountedSelection]) throws -> [Int] {
    try selections.map { try PeriodSelection($0.selection).count(.released, transaction) }
  }

  func revisedCount(in selection: KeySelection) throws -> Int {
    try PeriodSelection(selection).count(.revised, transaction)
  }

  func released(in selection: KeySelection, atMost count: Int) throws -> [PublishableKey] {
    try PeriodSelection(selection).released(atMost: count, transaction)
  }

  func keys(at positions: Set<Int>, in selection: KeySelection) throws -> [Data] {
    try PeriodSelection(selection).keys(at: positions.sorted(), transaction)
  }

  func insert(_ padding: [PublishableKey]) throws {
    guard !padding.isEmpty else { return }
    _ = try transaction.run([
      PostgreSQLUploads.insertion(padding, releasedFrom: .min, into: try partition())
    ])
  }

  func insert(_ batches: [Batch]) throws {
    for batch in batches { try BatchColumns.insert(batch, transaction) }
  }

  /// The partition of what is stored now.
  private func partition() throws -> KeyPartition {
    KeyPartition(day: try progress().openFrom.unixDay)
  }
}

/// The keys of a period for the closing of one export.
private struct PeriodSelection {
  enum Kind { case released, revised }

  private let range: PeriodKeyRange
  private let filter: KeyFilter

  init(_ selection: KeySelection) {
    range = PeriodKeyRange(selection)
    filter = selection.filter
  }

  private func source(_ kind: Kind) -> String {
    switch kind {
    case .released: "diagnosis_key AS k WHERE \(range.released)"
    case .revised: "key_revision AS r WHERE \(range.revised)"
    }
  }

  /// Returns the number of admitted keys.
  func count(_ kind: Kind, _ transaction: PostgreSQLTransaction) throws -> Int {
    try groups(kind, transaction).reduce(0) { $0 + $1.count }
  }

  private var revisedGroups: String {
    "SELECT regions, travels, count(*) FROM \(source(.revised)) GROUP BY regions, travels"
  }

  /// The few revoked keys are subtracted: to look for a revocation of each key takes longer than to count it.
  private var releasedGroups: String {
    """
    SELECT regions, travels, sum(keys)::bigint FROM (
      SELECT k.regions, k.travels, count(*) AS keys FROM diagnosis_key AS k
      WHERE \(range.releasedInPeriod) GROUP BY k.regions, k.travels
      UNION ALL SELECT k.regions, k.travels, -count(*)
      FROM key_revision AS v JOIN diagnosis_key AS k USING (key_data)
      WHERE \(range.revoked) AND \(range.releasedInPeriod) GROUP BY k.regions, k.travels
    ) AS counted GROUP BY regions, travels HAVING sum(keys) > 0
    """
  }

  /// The admitted combinations of regions and travel among the keys.
  private func groups(
    _ kind: Kind, _ transaction: PostgreSQLTransaction
  ) throws -> [(regions: String, travels: Bool, count: Int)] {
    let rows = try transaction.runOnce(kind == .released ? releasedGroups : revisedGroups)
    var filter = AdmittedRegions(filter)
    return rows.indices.compactMap { row in
      let (regions, travels) = (rows.text(row, 0) ?? "", rows.bool(row, 1))
      guard filter.admits(regions, travels) else { return nil }
      return (regions, travels, Int(rows.integer(row, 2) ?? 0))
    }
  }

  /// Returns at most `count` of the released keys, the first ones by their bytes.
  func released(
    atMost count: Int, _ transaction: PostgreSQLTransaction
  ) throws -> [PublishableKey] {
    var keys: [PublishableKey] = []
    var filter = AdmittedRegions(filter)
    try PostgreSQLKeyRow.read(.released(range), transaction) { row in
      guard keys.count < count, filter.admits(row.regions, row.travels), row.isIntact else {
        return
      }
      keys.append(try row.publishableKey(publishedBy: range.end))
    }
    return keys
  }

  /// Returns the bytes of the keys at `positions` in the order of all released and revised keys.
  func keys(at positions: [Int], _ transaction: PostgreSQLTransaction) throws -> [Data] {
    guard !positions.isEmpty else { return [] }
    let groups = try [Kind.released, .revised].flatMap { try self.groups($0, transaction) }
    let rows = try transaction.runOnce(
      """
      SELECT key_data FROM (
        SELECT key_data, row_number() OVER (ORDER BY key_data) - 1 AS position FROM (
          SELECT key_data, regions, travels FROM \(source(.released))
          UNION ALL SELECT key_data, regions, travels FROM \(source(.revised))
        ) AS either
        WHERE (regions, travels) IN (SELECT a, b = 1 FROM unnest($1, $2) AS admitted (a, b))
      ) AS numbered WHERE position = ANY ($3) ORDER BY key_data
      """,
      .texts(groups.map(\.regions)), .integers(groups.map { $0.travels ? 1 : 0 }),
      .integers(positions.map { Int64($0) }))
    return rows.indices.compactMap { rows.bytes($0, 0) }
  }
}

/// The keys of one file.
private struct FileKeys {
  let batch: Batch
  let skippedRows: SkippedRows
  let transaction: PostgreSQLTransaction

  func forEach(_ body: BatchKeys.Body) throws {
    let range = PeriodKeyRange(batch.selection)
    try read(.released(range)) { row in
      try body(try row.key(publishedBy: range.end), row.isPadding ? .padding : .uploaded)
    }
    try read(.revised(range)) { row in try body(try row.key(publishedBy: range.end), .revised) }
  }

  private func read(
    _ selection: PostgreSQLKeyRow.Selection, _ body: (PostgreSQLKeyRow) throws -> Void
  ) throws {
    var filter = AdmittedRegions(batch.selection.filter)
    try PostgreSQLKeyRow.read(selection, transaction) { row in
      guard filter.admits(row.regions, row.travels) else { return }
      // Skipped, because a corrupted key would be signed and published.
      guard row.isIntact else { return skippedRows.add() }
      try body(row)
    }
  }
}

/// A filter that caches its last result: nearly all keys of a period have the same regions.
private struct AdmittedRegions {
  private let filter: KeyFilter
  private var last: (regions: String, travels: Bool, isAdmitted: Bool)?

  init(_ filter: KeyFilter) {
    self.filter = filter
  }

  mutating func admits(_ regions: String, _ travels: Bool) -> Bool {
    if let last, last.travels == travels, last.regions == regions { return last.isAdmitted }
    let isAdmitted = filter.admits(regions: regions.split(separator: ","), travels: travels)
    last = (regions, travels, isAdmitted)
    return isAdmitted
  }
}

/// The columns of `export_file`.
private enum BatchColumns {
  static let list = """
    export, region, start_at, end_at, released_before, input_regions, excluded_regions, travellers,
    first_key, before_key, sha256, earlier_sha256, written_at, padding, edition
    """

  static func insert(_ batch: Batch, _ transaction: PostgreSQLTransaction) throws {
    try transaction.run(
      """
      INSERT INTO export_file (export, region, start_at, end_at, released_before, input_regions,
        excluded_regions, travellers, first_key, before_key)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      """,
      .text(batch.export), .text(batch.region), .integer(batch.start.unixSecond),
      .integer(batch.end.unixSecond), .integer(batch.selection.end.unixSecond),
      .text(batch.selection.filter.inputRegions.sorted().joined(separator: ",")),
      .text(batch.selection.filter.excludedRegions.sorted().joined(separator: ",")),
      .text(batch.selection.filter.travellers.rawValue), .bytes(batch.selection.firstKey),
      .bytes(batch.selection.beforeKey))
  }

  /// - Throws: `PostgreSQLError` if a value is unknown to this version.
  static func batch(_ rows: PostgreSQLRows, _ row: Int) throws -> Batch {
    func date(_ column: Int) -> Date { Date(unixSecond: rows.integer(row, column) ?? 0) }
    func regions(_ column: Int) -> Set<String> {
      Set((rows.text(row, column) ?? "").split(separator: ",").map(String.init))
    }
    let travellers = rows.text(row, 7).flatMap(ExportConfiguration.Travellers.init)
    guard let travellers else { throw PostgreSQLError(.damaged, "a file has an unknown filter") }
    let hashes = rows.bytes(row, 11) ?? Data()
    return Batch(
      export: rows.text(row, 0) ?? "", region: rows.text(row, 1) ?? "", end: date(3),
      selection: KeySelection(
        start: date(2), end: date(4),
        filter: KeyFilter(
          inputRegions: regions(5), excludedRegions: regions(6), travellers: travellers),
        firstKey: rows.bytes(row, 8), beforeKey: rows.bytes(row, 9)),
      sha256: rows.bytes(row, 10),
      earlierHashes: stride(from: 0, to: hashes.count, by: SHA256.byteCount).map {
        Data(hashes.dropFirst($0).prefix(SHA256.byteCount))
      },
      writtenAt: rows.integer(row, 12).map { Date(unixSecond: $0) },
      paddingCount: Int(rows.integer(row, 13) ?? 0), edition: Int(rows.integer(row, 14) ?? 1))
  }
}

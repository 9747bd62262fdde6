// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite
import Secrets
import World

/// Stores uploads inside one transaction.
struct SQLiteUploads {
  let db: Database

  /// Stores `uploads` in order and returns their results. If it throws, the transaction is rolled back.
  func accept(_ uploads: [AdmittedUpload]) throws -> [Acceptance] {
    let openFrom = try SQLiteKeyStore.openFrom(in: db)
    let insertion = try KeyInsertion(in: db, releasedFrom: openFrom)
    var tally = StatisticTally()
    let acceptances = try uploads.map { upload in
      try accept(upload, openFrom: openFrom, insertion, &tally)
    }
    for count in tally.counts { try add(count) }
    return acceptances
  }

  /// Returns the stored result for the token of `upload`, or nil if the token is unused.
  func acceptance(of upload: AdmittedUpload) throws -> Acceptance? {
    let row = try Row.fetchOne(
      db.cachedStatement(sql: "SELECT upload_digest, response FROM upload WHERE token_digest = ?"),
      arguments: [upload.token.digest])
    guard let row else { return nil }
    let digest: Data = row[0]
    return isEqualInConstantTime(digest, upload.digest) ? .accepted(response: row[1]) : .tokenUsed
  }

  private func accept(
    _ upload: AdmittedUpload, openFrom: Date, _ insertion: KeyInsertion,
    _ tally: inout StatisticTally
  ) throws -> Acceptance {
    // The insertion finds a used token; a lookup before it would double the cost.
    guard try UploadInsertion(upload).insertUnlessUsed(in: db) else {
      return try acceptance(of: upload) ?? .tokenUsed
    }
    // Nearly all keys are new. Inserting them without a lookup saves a tenth of the time of an upload.
    let inserted = upload.decisionIfNew.plan.inserted
    if inserted.count == upload.keys.count, try insertion.insertIfAllAreNew(inserted) {
      tally.add(upload.facts, upload.decisionIfNew.plan.outcome)
      return .accepted(response: upload.decisionIfNew.response)
    }
    do {
      let decision = try upload.decision(known: try known(upload.keys))
      try insertion.insert(decision.plan.inserted)
      for key in decision.plan.revised { try revise(key.released(from: openFrom)) }
      try setResponse(decision.response, of: upload)
      tally.add(upload.facts, decision.plan.outcome)
      return .accepted(response: decision.response)
    } catch let refusal as RevisionRefusal {
      try remove(upload)
      return .refused(refusal)
    }
  }

  /// Returns the reports of those of `keys` that are stored, by their bytes.
  func known(_ keys: [PublishableKey]) throws -> [Data: StoredReport] {
    guard !keys.isEmpty else { return [:] }
    let parameters = Array(repeating: "?", count: keys.count).joined(separator: ",")
    let rows = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT key_data, report_type, revised_report_type FROM diagnosis_key
          WHERE key_data IN (\(parameters))
          """),
      arguments: StatementArguments(keys.map { Data($0.bytes) }))
    var known: [Data: StoredReport] = [:]
    while let row = try rows.next() {
      let bytes: Data = row[0]
      known[bytes] = StoredReport(
        type: Self.reportType(row[1]), revisedType: Self.reportType(row[2]))
    }
    return known
  }

  private static func reportType(_ number: Int32?) -> ReportType? {
    number.flatMap(ReportType.init)
  }

  private func setResponse(_ response: Data, of upload: AdmittedUpload) throws {
    try db.cachedStatement(
      sql: "UPDATE upload SET response = ? WHERE token_digest = ?"
    ).execute(arguments: [response, upload.token.digest])
  }

  /// Makes the token of a rejected upload usable again.
  private func remove(_ upload: AdmittedUpload) throws {
    try db.cachedStatement(sql: "DELETE FROM upload WHERE token_digest = ?")
      .execute(arguments: [upload.token.digest])
  }

  func revise(_ key: PublishableKey) throws {
    try db.cachedStatement(
      sql: """
        UPDATE diagnosis_key SET revised_report_type = ?, revised_transmission_risk = ?,
          revised_days_since_onset = ?, revised_released_at = ?, revision_checksum = ?
        WHERE key_data = ?
        """
    ).execute(arguments: [
      key.key.reportType?.rawValue, key.key.transmissionRiskLevel,
      key.key.daysSinceOnsetOfSymptoms, key.releasedAt.unixSecond, key.revisionChecksum,
      Data(key.bytes),
    ])
  }

  private func add(_ count: StatisticCount) throws {
    try db.cachedStatement(
      sql: """
        INSERT INTO statistic (hour, issuer, kind, bucket, count) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (hour, issuer, kind, bucket) DO UPDATE SET count = count + excluded.count
        """
    ).execute(arguments: [
      count.place.hour, count.place.issuer, count.place.kind.rawValue, count.place.bucket,
      count.count,
    ])
  }
}

/// Inserts a row of `upload` with the usual response, which marks its token as used.
private struct UploadInsertion {
  private let upload: AdmittedUpload

  init(_ upload: AdmittedUpload) {
    self.upload = upload
  }

  /// Inserts the row unless the token is used.
  ///
  /// - Returns: `false` if the token is used.
  /// - Throws: `DatabaseError`; `CancellationError` if the task is cancelled.
  func insertUnlessUsed(in db: Database) throws -> Bool {
    let cached = try db.cachedStatement(sql: Self.sql)
    return try withExtendedLifetime(cached) {
      let statement = cached.sqliteStatement
      defer {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
      }
      guard bind(by: RawBinding(statement: statement)), sqlite3_step(statement) == SQLITE_DONE
      else { try db.throwLatestError() }
      return db.changesCount > 0
    }
  }

  private func bind(by binding: RawBinding) -> Bool {
    binding.binds(upload.token.digest, at: 1)
      && binding.binds(upload.token.keptUntil.unixSecond, at: 2)
      && binding.binds(upload.digest, at: 3) && binding.binds(upload.decisionIfNew.response, at: 4)
  }

  /// The token digest is the only unique column.
  private static let sql = """
    INSERT INTO upload (token_digest, kept_until, upload_digest, response) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING
    """
}

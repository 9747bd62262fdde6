import ExposureKeys
import Foundation
import GRDB

/// Keeps uploads inside one transaction of the SQLite file.
struct SQLiteIntake {
  let db: Database

  /// What becomes of each of `uploads`, in their order. Whatever throws undoes all of them.
  func accept(_ uploads: [StoredUpload], known: KnownKeys) throws -> [Acceptance] {
    try known.remembered(in: db) { memory in
      var commit = Commit(openFrom: try SQLiteKeyStore.openFrom(in: db))
      let acceptances = try uploads.map { try accept($0, &memory, &commit) }
      try putDown(&commit, &memory)
      for count in commit.tally.counts { try add(count) }
      return acceptances
    }
  }

  /// What one transaction gathers.
  private struct Commit {
    /// Nothing is released before: no key enters a period that is closed.
    let openFrom: Date
    var tally = StatisticTally()
    /// Keys that are to wait.
    var keys: [StoredKey] = []

    mutating func gather(_ gathered: [StoredKey]) {
      for var key in gathered {
        key.releasedAt = max(key.releasedAt, openFrom.wholeSeconds)
        keys.append(key)
      }
    }
  }

  /// What became of the upload's token, or nil where nobody has used it.
  func acceptance(of upload: AdmittedUpload) throws -> Acceptance? {
    try acceptance(of: upload, named: upload.token.digest)
  }

  private func acceptance(
    of upload: AdmittedUpload, named name: Data
  ) throws -> Acceptance? {
    let row = try Row.fetchOne(
      db.cachedStatement(sql: "SELECT upload_digest, answer FROM upload WHERE token_digest = ?"),
      arguments: [name])
    guard let row else { return nil }
    let digest: Data = row[0]
    return digest == upload.digest ? .accepted(response: row[1]) : .tokenUsed
  }

  private func accept(
    _ stored: StoredUpload, _ memory: inout KnownKeys.Memory, _ commit: inout Commit
  ) throws -> Acceptance {
    let upload = stored.admitted
    // First its token, with the answer it will nearly always get: so a token that is spent is found without
    // looking for it before, which took as long again.
    guard try UploadInsertion(upload).insertUnlessSpent(in: db) else {
      return try acceptance(of: upload) ?? .tokenUsed
    }
    guard stored.places.contains(where: memory.presence.mayHold) else {
      commit.gather(stored.inserted)
      for place in stored.places { memory.presence.add(place) }
      commit.tally.add(upload.facts, upload.decisionIfNew.plan.outcome)
      return .accepted(response: upload.decisionIfNew.response)
    }
    return try acceptWithCare(stored, &memory, &commit)
  }

  /// Looks the keys up, as one of them may be in, and does with each what may be done.
  private func acceptWithCare(
    _ stored: StoredUpload, _ memory: inout KnownKeys.Memory, _ commit: inout Commit
  ) throws -> Acceptance {
    let upload = stored.admitted
    try putDown(&commit, &memory)
    // Seldom: a key that comes again is in the table mostly, and sorting in takes a while.
    let waiting = WaitingKeys(db: db)
    if try waiting.holdsAny(of: stored.places) { try waiting.sortIn() }
    do {
      let decision = try upload.decision(known: try known(upload.keys))
      commit.gather(decision.plan.inserted.map { StoredKey($0) })
      for key in decision.plan.inserted { memory.presence.add(key.key.key.secretWords) }
      for key in decision.plan.revised {
        try revise(StoredKey(key.released(from: commit.openFrom)))
      }
      try change(upload, answer: decision.response)
      commit.tally.add(upload.facts, decision.plan.outcome)
      return .accepted(response: decision.response)
    } catch let refusal as RevisionRefusal {
      try forget(upload)
      return .refused(refusal)
    }
  }

  /// Puts the keys that were gathered where they wait.
  private func putDown(_ commit: inout Commit, _ memory: inout KnownKeys.Memory) throws {
    guard !commit.keys.isEmpty else { return }
    memory.latest = try WaitingKeys(db: db).add(commit.keys)
    commit.keys = []
  }

  private func known(_ keys: [PublishableKey]) throws -> [Data: KnownKey] {
    guard !keys.isEmpty else { return [:] }
    let places = Array(repeating: "?", count: keys.count).joined(separator: ",")
    let rows = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT key_data, report_type, revised_report_type FROM diagnosis_key
          WHERE key_data IN (\(places))
          """),
      arguments: StatementArguments(keys.map { Data($0.bytes) }))
    var known: [Data: KnownKey] = [:]
    while let row = try rows.next() {
      let bytes: Data = row[0]
      known[bytes] = KnownKey(
        bytes: bytes, reportType: Self.reportType(row[1]),
        revisedReportType: Self.reportType(row[2])
      )
    }
    return known
  }

  private static func reportType(_ number: Int32?) -> ReportType? {
    number.flatMap(ReportType.init)
  }

  /// What is told of an upload whose keys were not all new.
  private func change(_ upload: AdmittedUpload, answer: Data) throws {
    try db.cachedStatement(
      sql: "UPDATE upload SET answer = ? WHERE token_digest = ?"
    ).execute(arguments: [answer, upload.token.digest])
  }

  /// Gives an upload that is refused its token back.
  private func forget(_ upload: AdmittedUpload) throws {
    try db.cachedStatement(sql: "DELETE FROM upload WHERE token_digest = ?")
      .execute(arguments: [upload.token.digest])
  }

  private func revise(_ stored: StoredKey) throws {
    try db.cachedStatement(
      sql: """
        UPDATE diagnosis_key SET revised_report_type = ?, revised_transmission_risk = ?,
          revised_days_since_onset = ?, revised_released_at = ? WHERE key_data = ?
        """
    ).execute(arguments: [
      stored.reportType, stored.transmissionRisk, stored.daysSinceOnset, stored.releasedAt,
      stored.bytes,
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

extension Date {
  /// Unix seconds, cut.
  var wholeSeconds: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }
}

import Foundation
import GRDB

extension SQLiteCodeStorage {
  static func issue(
    _ code: IssuedCode, at now: Date, in database: Database
  ) throws -> IssueOutcome {
    if let handle = code.handle, try IssueRow.of(handle, in: database) != nil {
      return .handleTaken
    }
    let spellings =
      [(code.hash, code.expiresAt)] + (code.longHash.map { [($0, code.longExpiresAt)] } ?? [])
    for (hash, _) in spellings {
      let live = SpellingRow.live(at: now).filter(Column("hash") == hash.bytes)
      guard try live.isEmpty(database) else { return .codeTaken }
    }
    guard try report(code.phoneMark, at: now, in: database) else { return .phoneBusy }
    var row = IssueRow(code)
    try row.insert(database)
    guard let id = row.id else { return .codeTaken }
    for (hash, expiresAt) in spellings {
      // An expired code may stand in the way: it is forgotten a little early.
      try SpellingRow(hash: hash.bytes, issue: id, expiresAt: expiresAt.unixSecond)
        .insert(database, onConflict: .replace)
    }
    return .kept
  }

  /// Notes that a phone reported; false where it has to wait.
  private static func report(_ mark: Data?, at now: Date, in database: Database) throws -> Bool {
    guard let mark else { return true }
    let earlier = try ReportRow.of(mark, in: database)?.report
    guard earlier?.isBusy(at: now) != true else { return false }
    try ReportRow(PhoneReport(phoneMark: mark, at: now)).insert(database, onConflict: .replace)
    return true
  }

  static func claimReport(of issue: IssueRow, in database: Database) throws {
    guard let mark = issue.phoneMark, let row = try ReportRow.of(mark, in: database) else { return }
    try ReportRow(row.report.claimed).update(database)
  }

  func fate(_ handle: UUID) async throws -> CodeFate? {
    try await read { try IssueRow.of(handle, in: $0)?.fate }
  }

  func expire(_ handle: UUID, at now: Date) async throws -> CodeFate? {
    try await write { database in
      guard var issue = try IssueRow.of(handle, in: database), let id = issue.id else {
        return nil
      }
      let fate = issue.fate.ended(before: now)
      issue.fate = fate
      try issue.update(database)
      let end = now.unixSecond - 1
      try SpellingRow.filter(Column("issue") == id && Column("expiresAt") > end)
        .updateAll(database, Column("expiresAt").set(to: end))
      return fate
    }
  }

  func withdraw(_ handle: UUID) async throws {
    try await write { database in
      guard let issue = try IssueRow.of(handle, in: database) else { return }
      if let mark = issue.phoneMark { _ = try ReportRow.deleteOne(database, key: mark) }
      _ = try issue.delete(database)
    }
  }

  func liveCount(at now: Date, atMost count: Int) async throws -> Int {
    try await read { try SpellingRow.live(at: now).limit(count).fetchCount($0) }
  }

  func removeExpired(at moment: Date, atMost count: Int) async throws -> Int {
    try await write { database in
      let end = moment.unixSecond
      let codes = try IssueRow.filter(Column("endsAt") < end).limit(count).deleteAll(database)
      let tokens = try Self.delete("exchange", "tokenMark", "expiresAt", end, count, in: database)
      let reports = try Self.delete("report", "phoneMark", "freeAt", end, count, in: database)
      return codes + tokens + reports
    }
  }

  /// Deletes at most `count` rows of a table without row ids whose `time` is over.
  private static func delete(
    _ table: String, _ key: String, _ time: String, _ end: Int64, _ count: Int,
    in database: Database
  ) throws -> Int {
    try database.execute(
      sql:
        "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(table) WHERE \(time) < ? LIMIT ?)",
      arguments: [end, count])
    return database.changesCount
  }
}

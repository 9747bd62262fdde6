// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import World

/// The numbers of the codes that officials have issued, so that they find them again and their work is counted.
///
/// An entry has the number of a code, its time, its test and its list; never the code, its SMS or anything about a
/// person.
struct IssuedCodeStore: Sendable {
  /// A code that was issued.
  struct Entry: Hashable, Sendable {
    let uuid: UUID
    let issuedAt: Int64
    let test: CodeRequest.TestType
    /// The number of the list, if it was issued with one.
    let list: UUID?
  }

  /// The codes of an account in one day of the office.
  struct Count: Hashable, Sendable {
    let day: String
    let account: String
    let codes: Int
  }

  let database: ConsoleDatabase
  /// The clock of the servers.
  let clock: any WallClock

  /// The time after which the codes of the last weeks were issued.
  private var oldest: Int64 { clock.now.unixSecond - ConsoleLimit.issuedCodeSeconds }

  /// Stores codes that an account is about to issue.
  ///
  /// - Returns: The numbers that were not stored before, as those of a form that is sent twice are.
  @discardableResult
  func add(
    _ requests: [CodeRequest], list: UUID? = nil, by account: Account
  ) async throws -> Set<UUID> {
    let now = clock.now.unixSecond
    return try await database.write { db in
      let new = try requests.filter { request in
        try db.change(
          sql: """
            INSERT INTO issued_code (uuid, account_id, issued_at, test, list)
            VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
          arguments: [
            request.uuid.text, account.id, now, request.testType.rawValue, list?.text,
          ]) > 0
      }
      return Set(new.map(\.uuid))
    }
  }

  /// Deletes the codes of earlier weeks.
  func removeOld() async throws {
    let oldest = oldest
    try await database.write {
      try $0.execute(sql: "DELETE FROM issued_code WHERE issued_at <= ?", arguments: [oldest])
    }
  }

  /// The list whose codes have the numbers under which an earlier version has issued them.
  func keepingNumbers(_ list: CodeList) async throws -> CodeList {
    let numbers = list.entries.compactMap(\.earlierNumber)
    guard !numbers.isEmpty else { return list }
    let known = try await database.read { db in
      try numbers.filter { number in
        try db.count(
          sql: "SELECT count(*) FROM issued_code WHERE uuid = ?", arguments: [number.text]) > 0
      }
    }
    return list.keepingNumbers(in: Set(known))
  }

  /// Removes codes that were not issued.
  ///
  /// - Parameter uuids: Of the numbers that were stored for the request. An earlier one may have issued the others.
  func remove(_ uuids: some Collection<UUID> & Sendable) async throws {
    guard !uuids.isEmpty else { return }
    try await database.write { db in
      for uuid in uuids {
        try db.execute(sql: "DELETE FROM issued_code WHERE uuid = ?", arguments: [uuid.text])
      }
    }
  }

  /// The codes of an account, newest first.
  ///
  /// - Parameters:
  ///   - search: The start of the number of the code or of its list; empty for all.
  ///   - skip: The number of newer codes that are left out.
  func codes(
    of account: Account, search: String, skip: Int, countMax: Int
  ) async throws -> [Entry] {
    // Only characters of a UUID, so that none is a wildcard.
    guard search.allSatisfy({ $0.isHexDigit || $0 == "-" }) else { return [] }
    let (start, oldest) = (search.lowercased() + "%", oldest)
    return try await database.read { db in
      try db.rows(
        sql: """
          SELECT * FROM issued_code
          WHERE account_id = ? AND issued_at > ? AND (uuid LIKE ? OR list LIKE ?)
          ORDER BY issued_at DESC, \(db.insertionOrder) DESC LIMIT ? OFFSET ?
          """, arguments: [account.id, oldest, start, start, countMax, skip]
      ).compactMap { Entry($0) }
    }
  }

  /// A code of an account; nil if the account has not issued it.
  func code(_ uuid: UUID, of account: Account) async throws -> Entry? {
    try await database.read { db in
      try db.row(
        sql: "SELECT * FROM issued_code WHERE uuid = ? AND account_id = ?",
        arguments: [uuid.text, account.id]
      ).flatMap { Entry($0) }
    }
  }

  /// The number of codes of all accounts since `second`.
  func count(since second: Int64) async throws -> Int {
    try await database.read { db in
      try db.count(
        sql: "SELECT count(*) FROM issued_code WHERE issued_at > ?", arguments: [second])
    }
  }

  /// The number of codes by day and account, newest day first.
  func counts(in times: OfficeTime) async throws -> [Count] {
    let oldest = oldest
    let rows = try await database.read { db in
      try db.rows(
        sql: """
          SELECT issued_at, account.name AS name FROM issued_code
          JOIN account ON account.id = issued_code.account_id WHERE issued_at > ?
          """, arguments: [oldest]
      ).map { (issuedAt: $0["issued_at"] as Int64, name: $0["name"] as String) }
    }
    let groups = Dictionary(grouping: rows) {
      [times.day(Date(unixSecond: $0.issuedAt)), $0.name]
    }
    return groups.map { Count(day: $0.key[0], account: $0.key[1], codes: $0.value.count) }
      .sorted { $0.day == $1.day ? $0.account < $1.account : $0.day > $1.day }
  }
}

extension IssuedCodeStore.Entry {
  /// Nil if a value is not valid.
  fileprivate init?(_ row: Row) {
    guard let uuid = UUID(uuidString: row["uuid"]),
      let test = CodeRequest.TestType(rawValue: row["test"])
    else { return nil }
    let list: String? = row["list"]
    self.init(
      uuid: uuid, issuedAt: row["issued_at"], test: test, list: list.flatMap(UUID.init))
  }
}

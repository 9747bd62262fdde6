// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import PostgreSQL
import ServerStorage
import SharedBudgets

/// The tables of the code database in PostgreSQL: those of `SQLiteCodeStorage`, with the same names of columns, so that
/// the same row types and checksums are used.
///
/// A released migration is never changed: later versions append to `migrations`.
enum PostgreSQLCodeSchema {
  static let schema = PostgreSQLServerDatabase.Schema(
    name: SQLiteCodeStorage.schema.name,
    migrations: [first, second, third, PostgreSQLCounters.table, fifth, sixth, seventh])

  static let issues = PostgreSQLTable<IssueRow>(
    key: "id",
    columns: [
      "id": .integer, "handle": .bytes, "issuer": .text, "testType": .text,
      "symptomDay": .integer, "testDay": .integer, "nonceHash": .bytes, "phoneHash": .bytes,
      "issuedAt": .integer, "expiresAt": .integer, "longExpiresAt": .integer,
      "endsAt": .integer, "binding": .bytes, "sealedToken": .bytes, "tokenIDHash": .bytes,
      "checksum": .integer,
    ])
  static let hashes = PostgreSQLTable<CodeHashRow>(
    key: "hash",
    columns: [
      "hash": .bytes, "issue": .integer, "form": .text, "expiresAt": .integer,
      "checksum": .integer,
    ])
  static let exchanges = PostgreSQLTable<ExchangeRow>(
    key: "tokenIDHash",
    columns: [
      "tokenIDHash": .bytes, "binding": .bytes, "expiresAt": .integer, "checksum": .integer,
    ])
  static let reports = PostgreSQLTable<ReportRow>(
    key: "phoneHash",
    columns: ["phoneHash": .bytes, "freeAt": .integer, "freeAtWhenClaimed": .integer])
  static let apiKeys = PostgreSQLTable<APIKeyRow>(
    key: "id",
    columns: [
      "id": .text, "kind": .text, "name": .text, "hash": .bytes, "createdAt": .integer,
      "revokedAt": .integer,
    ])
  static let counts = PostgreSQLTable<CodeCounts>(
    key: "day",
    columns: [
      "day": .integer, "issued": .integer, "claimed": .integer, "tokensClaimed": .integer,
      "claimAges": .text, "claimSeconds": .integer,
    ])

  static let issuerCounts = PostgreSQLTable<IssuerCount>(
    key: "day", columns: ["day": .integer, "kind": .text, "name": .text, "issued": .integer])

  static let attemptCounts = PostgreSQLTable<AttemptCount>(
    key: "day",
    columns: [
      "day": .integer, "apiKey": .text, "codesClaimed": .integer, "codesInvalid": .integer,
      "tokensClaimed": .integer, "tokensInvalid": .integer, "codesInvalidIOS": .integer,
      "codesInvalidAndroid": .integer,
    ])

  private static let fifth = ["codesInvalidIOS", "codesInvalidAndroid"].map {
    #"ALTER TABLE "attemptCount" ADD COLUMN "\#($0)" bigint"#
  }

  private static let sixth = [PostgreSQLServerDatabase.sharedStateTable]

  /// The identities of batches of attempts that are counted.
  private static let seventh = [
    """
    CREATE TABLE "attemptBatch" (
      identity bytea PRIMARY KEY,
      "storedAt" timestamptz NOT NULL DEFAULT now()
    )
    """
  ]

  private static let third = [
    """
    CREATE TABLE "attemptCount" (
      day bigint NOT NULL,
      "apiKey" text NOT NULL,
      "codesClaimed" bigint NOT NULL,
      "codesInvalid" bigint NOT NULL,
      "tokensClaimed" bigint NOT NULL,
      "tokensInvalid" bigint NOT NULL,
      PRIMARY KEY (day, "apiKey")
    )
    """
  ]

  private static let second = [
    """
    CREATE TABLE "issuerCount" (
      day bigint NOT NULL,
      kind text NOT NULL,
      name text NOT NULL,
      issued bigint NOT NULL,
      PRIMARY KEY (day, kind, name)
    )
    """
  ]

  private static let first = [
    """
    CREATE TABLE issue (
      id bigint PRIMARY KEY,
      handle bytea UNIQUE,
      issuer text,
      "testType" text NOT NULL,
      "symptomDay" bigint,
      "testDay" bigint,
      "nonceHash" bytea,
      "phoneHash" bytea,
      "issuedAt" bigint NOT NULL,
      "expiresAt" bigint NOT NULL,
      "longExpiresAt" bigint NOT NULL,
      "endsAt" bigint NOT NULL,
      binding bytea,
      "sealedToken" bytea,
      "tokenIDHash" bytea,
      checksum bigint NOT NULL
    )
    """,
    #"CREATE INDEX issue_ends ON issue ("endsAt")"#,
    // Checksums contain the number, so it is drawn before the row is stored.
    "CREATE SEQUENCE issue_id",
    """
    CREATE TABLE "codeHash" (
      hash bytea PRIMARY KEY,
      issue bigint NOT NULL REFERENCES issue ON DELETE CASCADE,
      form text,
      "expiresAt" bigint NOT NULL,
      checksum bigint NOT NULL
    )
    """,
    #"CREATE INDEX code_hash_issue ON "codeHash" (issue)"#,
    #"CREATE INDEX code_hash_form ON "codeHash" (form, "expiresAt")"#,
    """
    CREATE TABLE exchange (
      "tokenIDHash" bytea PRIMARY KEY,
      binding bytea NOT NULL,
      "expiresAt" bigint NOT NULL,
      checksum bigint NOT NULL
    )
    """,
    #"CREATE INDEX exchange_expires ON exchange ("expiresAt")"#,
    """
    CREATE TABLE report (
      "phoneHash" bytea PRIMARY KEY,
      "freeAt" bigint NOT NULL,
      "freeAtWhenClaimed" bigint NOT NULL
    )
    """,
    #"CREATE INDEX report_free ON report ("freeAt")"#,
    """
    CREATE TABLE "apiKey" (
      id text PRIMARY KEY,
      kind text NOT NULL,
      name text NOT NULL,
      hash bytea NOT NULL,
      "createdAt" bigint NOT NULL,
      "revokedAt" bigint
    )
    """,
    """
    CREATE TABLE "codeCount" (
      day bigint PRIMARY KEY,
      issued bigint NOT NULL,
      claimed bigint NOT NULL,
      "tokensClaimed" bigint NOT NULL,
      "claimAges" text NOT NULL,
      "claimSeconds" bigint NOT NULL
    )
    """,
  ]
}

extension VerificationServer {
  /// The copy of the database from SQLite or another PostgreSQL server to PostgreSQL.
  package static var databaseMove: DatabaseMove {
    DatabaseMove(
      SQLiteCodeStorage.schema, tables: movedTables,
      after: { _, target in
        try target.run("SELECT setval('issue_id', (SELECT coalesce(max(id), 1) FROM issue))")
      })
  }

  /// The copy of the database from PostgreSQL to a file.
  package static var databaseMoveToFile: DatabaseMove {
    DatabaseMove(SQLiteCodeStorage.schema, tables: movedTables)
  }

  private static var movedTables: [DatabaseMove.Table] {
    typealias Schema = PostgreSQLCodeSchema
    return [
      Schema.issues.moved, Schema.hashes.moved, Schema.exchanges.moved, Schema.reports.moved,
      Schema.apiKeys.moved, Schema.counts.moved, Schema.issuerCounts.moved(keyCount: 3),
      Schema.attemptCounts.moved(keyCount: 2),
    ]
  }
}

/// A table in PostgreSQL whose rows have the form of GRDB's record types, with their checksums.
struct PostgreSQLTable<Record: FetchableRecord & PersistableRecord>: Sendable {
  /// The type of a column.
  enum Kind: Sendable { case integer, text, bytes }

  private let key: String
  private let columns: [(name: String, kind: Kind)]

  /// - Parameters:
  ///   - key: The column of the primary key.
  ///   - columns: The types of all columns by their names, the primary key first.
  init(key: String, columns: KeyValuePairs<String, Kind>) {
    self.key = key
    self.columns = columns.map { ($0.key, $0.value) }
  }

  /// The name of the table in SQL.
  var name: String { "\"\(Record.databaseTableName)\"" }

  /// The table for a copy from SQLite.
  fileprivate var moved: DatabaseMove.Table { moved(keyCount: 1) }

  /// The table, whose primary key is the first `keyCount` columns.
  fileprivate func moved(keyCount: Int) -> DatabaseMove.Table {
    DatabaseMove.Table(
      Record.databaseTableName,
      columns.map { name, kind in
        switch kind {
        case .integer: .init(name, .integer)
        case .text: .init(name, .text)
        case .bytes: .init(name, .bytes)
        }
      }, keyCount: keyCount)
  }

  private var list: String { columns.map { "\"\($0.name)\"" }.joined(separator: ", ") }

  /// Returns the rows that `condition` selects.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` if one is damaged.
  func rows(
    _ condition: String, _ parameters: PostgreSQLValue...,
    in transaction: PostgreSQLTransaction
  ) throws -> [Record] {
    try values(condition, parameters, transaction).map { try Record(row: $0) }
  }

  /// Returns those of the selected rows that are not damaged.
  func intactRows(
    _ condition: String, _ parameters: PostgreSQLValue...,
    in transaction: PostgreSQLTransaction
  ) throws -> [Record] {
    // The checks of the database count the damaged rows and report them.
    try values(condition, parameters, transaction).compactMap { try? Record(row: $0) }
  }

  private func values(
    _ condition: String, _ parameters: [PostgreSQLValue], _ transaction: PostgreSQLTransaction
  ) throws -> [Row] {
    let sql = "SELECT \(list) FROM \(name) \(condition)"
    let rows = try transaction.run([PostgreSQLStatement(sql, parameters)])
    guard let rows = rows.first else { return [] }
    return rows.indices.map { row($0, of: rows) }
  }

  private func row(_ number: Int, of rows: PostgreSQLRows) -> Row {
    var values: [String: (any DatabaseValueConvertible)?] = [:]
    for (index, column) in columns.enumerated() {
      values[column.name] =
        switch column.kind {
        case .integer: rows.integer(number, index)
        case .text: rows.text(number, index)
        case .bytes: rows.bytes(number, index)
        }
    }
    return Row(values)
  }

  /// Inserts a row.
  func insert(_ record: Record, in transaction: PostgreSQLTransaction) throws {
    let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let sql = "INSERT INTO \(name) (\(list)) VALUES (\(places))"
    _ = try transaction.run([PostgreSQLStatement(sql, try parameters(record))])
  }

  /// Replaces the row with the same primary key.
  func update(_ record: Record, in transaction: PostgreSQLTransaction) throws {
    let changes = columns.enumerated().map { "\"\($1.name)\" = $\($0 + 1)" }
    let place = (columns.firstIndex { $0.name == key } ?? 0) + 1
    let sql = """
      UPDATE \(name) SET \(changes.joined(separator: ", ")) WHERE "\(key)" = $\(place)
      """
    _ = try transaction.run([PostgreSQLStatement(sql, try parameters(record))])
  }

  private func parameters(_ record: Record) throws -> [PostgreSQLValue] {
    let values = try record.databaseDictionary
    return columns.map { column in
      let value = values[column.name]
      return switch column.kind {
      case .integer: .integer(value.flatMap { Int64.fromDatabaseValue($0) })
      case .text: .text(value.flatMap { String.fromDatabaseValue($0) })
      case .bytes: .bytes(value.flatMap { Data.fromDatabaseValue($0) })
      }
    }
  }

  /// Counts the damaged rows, and reads them in parts.
  func damagedCount(in transaction: PostgreSQLTransaction) throws -> Int {
    let cursor = "all_\(Record.databaseTableName)"
    try transaction.run("DECLARE \(cursor) NO SCROLL CURSOR FOR SELECT \(list) FROM \(name)")
    var count = 0
    while true {
      let rows = try transaction.run("FETCH 5000 FROM \(cursor)")
      guard rows.count > 0 else { break }
      // A row that cannot be read is damaged.
      count += rows.indices.count { (try? Record(row: row($0, of: rows))) == nil }
    }
    try transaction.run("CLOSE \(cursor)")
    return count
  }
}

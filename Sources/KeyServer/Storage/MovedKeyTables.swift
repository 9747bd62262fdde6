// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeyServerAPI
import PostgreSQL
import ServerStorage
import World

extension KeyServer {
  /// The copy of the database from SQLite to PostgreSQL.
  package static var databaseMove: DatabaseMove {
    DatabaseMove(
      SQLiteSchema.schema, tables: MovedKeyTables.keys + MovedKeyTables.others,
      stateColumns: [.init("served_issuer", .text)],
      before: { source, target in
        guard case .file(let db) = source, case .postgreSQL(let transaction) = target else {
          return
        }
        let openFrom = try SQLiteKeyStore.openFrom(in: db)
        try KeyPartition(day: openFrom.unixDay).create(transaction)
      })
  }

  /// The copy of the database from PostgreSQL to a file.
  ///
  /// - Parameter withdrawn: The files that the device configuration withdraws. Those of the database must be among
  ///   them, because it has no place for them in a file. Nil for no check.
  package static func databaseMoveToFile(withdrawn: Set<KeyFileHash>?) -> DatabaseMove {
    DatabaseMove(
      SQLiteSchema.schema, tables: MovedKeyTables.keysToFile + MovedKeyTables.othersToFile,
      stateColumns: [.init("served_issuer", .text)],
      before: { source, _ in
        guard let withdrawn, case .postgreSQL(let transaction) = source else { return }
        let stored = try PostgreSQLKeyStore.withdrawnFiles(transaction)
        let unknown = stored.subtracting(withdrawn)
        guard unknown.isEmpty else {
          throw DatabaseMove.Failure.unknownWithdrawals(count: unknown.count)
        }
      })
  }

  /// The copy of the database from one PostgreSQL server to another one.
  package static var databaseMoveBetweenServers: DatabaseMove {
    DatabaseMove(
      SQLiteSchema.schema,
      tables: MovedKeyTables.keysBetweenServers + MovedKeyTables.othersBetweenServers,
      stateColumns: [.init("served_issuer", .text), .init("keys_from", .integer)],
      before: { source, target in
        guard case .postgreSQL(let from) = source, case .postgreSQL(let to) = target else { return }
        for partition in try KeyPartition.all(from) { try partition.create(to) }
      })
  }
}

/// The tables of the key database for `DatabaseMove`.
private enum MovedKeyTables {
  typealias Table = DatabaseMove.Table
  typealias Column = DatabaseMove.Table.Column

  private static let keyColumns: [Column] = [
    Column("key_data", .bytes), Column("released_at", .integer), Column("checksum", .integer),
    Column("rolling_start", .integer), Column("report_type", .integer),
    Column("days_since_onset", .integer), Column("rolling_period", .integer),
    Column("transmission_risk", .integer), Column("travels", .bool), Column("is_padding", .bool),
    Column("regions", .text),
  ]

  private static let revisionColumns: [Column] = [
    Column("revised_released_at", .integer), Column("revision_checksum", .integer),
    Column("revised_report_type", .integer), Column("revised_days_since_onset", .integer),
    Column("revised_transmission_risk", .integer),
  ]

  /// The keys are in one partition. The revisions, which SQLite has in the rows of the keys, are a table.
  static let keys = [
    Table(
      "diagnosis_key",
      keyColumns + [
        Column(
          "stored_day", .integer,
          from: "(SELECT coalesce(max(closed_until), 0) / 86400 FROM period_progress)")
      ]),
    Table(
      "key_revision", keyColumns + revisionColumns,
      from: "diagnosis_key WHERE revised_released_at IS NOT NULL"),
    uploads,
  ]

  /// The keys that do not count as removed, each with its revision.
  static let keysToFile = [
    Table(
      "diagnosis_key", keyColumns + revisionColumns,
      from: """
        (
          SELECT \(names(keyColumns)), \(revisionColumns.map { "NULL AS \($0.source)" }.joined(separator: ", "))
          FROM diagnosis_key AS k WHERE released_at >= (SELECT keys_from FROM server_state)
            AND NOT EXISTS (SELECT FROM key_revision AS v WHERE v.key_data = k.key_data)
          UNION ALL SELECT \(names(keyColumns)), \(names(revisionColumns)) FROM key_revision
        ) AS keys
        """), uploads,
  ]

  static let keysBetweenServers = [
    Table(
      "diagnosis_key",
      [keyColumns[0], Column("stored_day", .integer)] + keyColumns.dropFirst(), keyCount: 2),
    Table("key_revision", keyColumns + revisionColumns), uploads,
  ]

  private static func names(_ columns: [Column]) -> String {
    columns.map(\.source).joined(separator: ", ")
  }

  private static let uploads = Table(
    "upload",
    [
      Column("token_digest", .bytes), Column("kept_until", .integer),
      Column("upload_digest", .bytes), Column("response", .bytes),
    ])

  static let others = others(withCounts: statistics)
  static let othersToFile = others(withCounts: countsToFile)
  static let othersBetweenServers = others(withCounts: countsBetweenServers) + [withdrawnFiles]

  private static func others(withCounts counts: Table) -> [Table] {
    [exports, progress, revisionKeys] + register + [counts, imports] + removed
  }

  /// The device configuration of a folder has them if the database is a file.
  private static let withdrawnFiles = Table(
    "withdrawn_file", [Column("sha256", .bytes), Column("withdrawn_at", .integer)])

  private static let exports = Table(
    "export_file",
    [
      Column("export", .text), Column("start_at", .integer), Column("end_at", .integer),
      Column("region", .text), Column("released_before", .integer), Column("input_regions", .text),
      Column("excluded_regions", .text), Column("travellers", .text), Column("first_key", .bytes),
      Column("before_key", .bytes), Column("sha256", .bytes), Column("earlier_sha256", .bytes),
      Column("written_at", .integer), Column("padding", .integer), Column("edition", .integer),
    ], keyCount: 3)

  private static let progress = Table(
    "period_progress", [Column("export", .text), Column("closed_until", .integer)])

  private static let revisionKeys = Table(
    "revision_key",
    [Column("key_id", .text), Column("sealed", .bytes), Column("effective_from", .integer)])

  private static let register = [
    Table(
      "authority",
      [
        Column("issuer", .text), Column("audience", .text), Column("jwks_url", .text),
        Column("sees_statistics", .bool),
      ]),
    Table(
      "authority_key",
      [
        Column("issuer", .text), Column("key_id", .text), Column("public_key", .text),
        Column("good_from", .integer), Column("good_until", .integer), Column("is_pulled", .bool),
        Column("withdrawn_at", .integer),
      ], keyCount: 2),
    Table("app", [Column("id", .text), Column("regions", .text)]),
    Table("app_authority", [Column("app_id", .text), Column("issuer", .text)], keyCount: 2),
  ]

  /// Counts of SQLite are those of process 0.
  private static let statistics = Table(
    "statistic",
    countColumns + [Column("process", .integer, from: "0"), Column("count", .integer)],
    keyCount: 5)

  private static let countsBetweenServers = Table(
    "statistic",
    countColumns + [Column("process", .integer), Column("count", .integer)], keyCount: 5)

  /// The sums of all processes.
  private static let countsToFile = Table(
    "statistic", countColumns + [Column("count", .integer)], keyCount: 4,
    from: """
      (
        SELECT hour, issuer, kind, bucket, sum(count) AS count FROM statistic
        GROUP BY hour, issuer, kind, bucket
      ) AS sums
      """)

  private static let countColumns: [Column] = [
    Column("hour", .integer), Column("issuer", .text), Column("kind", .text),
    Column("bucket", .integer),
  ]

  private static let imports = Table(
    "imported_file",
    [Column("sha256", .bytes), Column("source", .text), Column("imported_at", .integer)])

  private static let removed = [
    Table(
      "withdrawn_file_key",
      [Column("key_data", .bytes), Column("is_revision", .bool), Column("end_at", .integer)],
      keyCount: 2),
    Table(
      "removal", [Column("identity", .identity), Column("kind", .text), Column("entry", .text)]),
  ]
}

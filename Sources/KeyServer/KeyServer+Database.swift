// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import World

/// The database of the server for commands, which open it beside the server.
extension KeyServer {
  /// The schema of the database.
  package static var databaseSchema: DatabaseSchema { SQLiteSchema.schema }

  /// The database in PostgreSQL.
  ///
  /// - Parameters:
  ///   - address: The address of the database.
  ///   - secret: The `databaseKey` that the database must belong to; nil for no check.
  ///   - logger: Gets failures of connections.
  package static func database(
    at address: PostgreSQLAddress, secret: Data? = nil, logger: Logger
  ) -> PostgreSQLServerDatabase {
    PostgreSQLServerDatabase(
      address, schema: PostgreSQLKeySchema.schema, secretCheck: secret.map(databaseCheck),
      connections: 1, logger: logger)
  }

  /// The value by which a database shows that it belongs to the `databaseKey` `secret`.
  package static func databaseCheck(of secret: Data) -> Data { DatabaseKeys(secret).check }

  /// The check of the database, which verifies the checksum of each key.
  package static var databaseInspection: DatabaseInspection {
    DatabaseInspection(
      SQLiteSchema.schema, damagedRows: { try SQLiteKeyStore.damagedKeys(in: $0) },
      damagedRowsInPostgreSQL: { try PostgreSQLKeyStore.damagedKeys($0) })
  }
}

/// The database of measured servers.
extension KeyServer {
  /// Inserts keys into the database of a server that is not running, without uploads.
  ///
  /// - Parameter now: The moment at which the server's first period begins if the database is new.
  /// - Throws: `KeyServerError` or `DatabaseError` if the database cannot be opened or written.
  package static func insert(
    _ keys: [(key: DiagnosisKey, releasedAt: Date)], of region: String, into databaseFile: URL,
    at now: Date
  ) throws {
    let store = try SQLiteKeyStore(file: databaseFile, exports: [export(of: region)], at: now)
    try store.insert(rows(keys, of: region))
    try store.close()
  }

  /// True if a database in PostgreSQL has no tables, or those of a server with `secret`.
  ///
  /// - Parameter secret: The `databaseKey` of the server; nil if the database may have no tables.
  /// - Throws: `KeyServerError` if the database cannot be read.
  package static func isFree(
    _ address: PostgreSQLAddress, for secret: Data? = nil, logger: Logger
  ) async throws -> Bool {
    let database = Self.database(at: address, secret: secret, logger: logger)
    defer { database.close() }
    do { return try await database.isFree() } catch let error as ServerDatabaseError {
      throw KeyServerError(error)
    }
  }

  /// Inserts keys into a database in PostgreSQL that no server uses, without uploads.
  ///
  /// - Parameter now: The moment at which the server's first period begins if the database is new.
  /// - Throws: `KeyServerError` if the database cannot be reached or written.
  package static func insert(
    _ keys: [(key: DiagnosisKey, releasedAt: Date)], of region: String,
    into address: PostgreSQLAddress, at now: Date, logger: Logger
  ) async throws {
    let store = PostgreSQLKeyStore(
      address, exports: [export(of: region)], at: now, logger: logger)
    defer { store.close() }
    let rows = rows(keys, of: region)
    try await store.write(
      seconds: PostgreSQLLimit.longRequestSeconds, isRepeatable: false
    ) { transaction in
      _ = try transaction.runLast([
        PostgreSQLUploads.insertion(
          rows, releasedFrom: .min, into: KeyPartition(day: now.unixDay))
      ])
    }
  }

  private static func export(of region: String) -> ExportConfiguration {
    ExportConfiguration(filenameRoot: "", region: region)
  }

  private static func rows(
    _ keys: [(key: DiagnosisKey, releasedAt: Date)], of region: String
  ) -> [PublishableKey] {
    keys.map {
      PublishableKey(key: $0.key, regions: [region], travels: false, releasedAt: $0.releasedAt)
    }
  }
}

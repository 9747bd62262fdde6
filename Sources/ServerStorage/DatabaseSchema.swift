// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// The schema of a server's database, and the settings of its file that differ between servers.
package struct DatabaseSchema: Sendable {
  /// The name of the database in messages, such as `key database`.
  package let name: String
  /// The migrations. A released one is never changed: later versions append.
  package var migrations: DatabaseMigrator
  /// The page size of a new file, in bytes; nil for SQLite's.
  package var pageBytes: Int?
  /// The page cache of the writing connection, in KiB; nil for SQLite's.
  package var cacheKiB: Int?
  /// The length of the write-ahead log, in pages, at which a commit starts a checkpoint; nil for SQLite's.
  package var checkpointPages: Int?

  /// The maximum wait for a transaction of another process, such as a command of the operator, in seconds.
  static let busySeconds: TimeInterval = 5

  package init(
    name: String, migrations: DatabaseMigrator, pageBytes: Int? = nil, cacheKiB: Int? = nil,
    checkpointPages: Int? = nil
  ) {
    self.name = name
    self.migrations = migrations
    self.pageBytes = pageBytes
    self.cacheKiB = cacheKiB
    self.checkpointPages = checkpointPages
  }

  /// The settings of a connection.
  ///
  /// `synchronous` is not among them, because `DatabasePool` changes it after `prepareDatabase`.
  func configuration(readonly: Bool = false) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = readonly
    configuration.foreignKeysEnabled = true
    configuration.busyMode = .timeout(Self.busySeconds)
    configuration.prepareDatabase { [pageBytes, cacheKiB, checkpointPages] db in
      // Overwrites deleted data: a deleted key, code or session must not be readable from a free page.
      try db.execute(sql: "PRAGMA secure_delete = ON")
      guard !db.configuration.readonly else { return }
      if let pageBytes { try db.execute(sql: "PRAGMA page_size = \(pageBytes)") }
      if let checkpointPages {
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointPages)")
      }
      if let cacheKiB { try db.execute(sql: "PRAGMA cache_size = -\(cacheKiB)") }
    }
    return configuration
  }

  /// Throws `ServerDatabaseError.newer` if the database has migrations that this version does not know.
  func refuseNewer(_ db: Database) throws {
    guard try !migrations.hasBeenSuperseded(db) else { throw ServerDatabaseError.newer }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// A copy of a database that may be in use.
enum DatabaseCopy {
  /// Copies `database` to the new file `url`: SQLite's online backup, in which each transaction is complete or
  /// missing. The copy has mode 0600 and no log beside it.
  ///
  /// - Throws: `BackupError`; `.newerDatabase` if this version does not know the schema of the database, and so the
  ///   other files that belong to it.
  static func write(
    _ database: URL, schema: DatabaseSchema, to url: URL
  ) throws(BackupError) {
    unlink(url.path)
    let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .notWritten(url) }
    close(descriptor)
    let verdict: String?
    do {
      let source = try ServerDatabase.openForReading(database, schema: schema)
      let copy = try DatabaseQueue(path: url.path)
      try source.backup(to: copy)
      verdict = try copy.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
      try copy.close()
    } catch ServerDatabaseError.newer {
      throw .newerDatabase(schema.name)
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw .damagedDatabase(database)
    } catch {
      throw .notWritten(url)
    }
    guard verdict == "ok" else { throw .damagedDatabase(database) }
  }
}

import Foundation
import GRDB

/// A copy of a database that may be in use.
enum DatabaseCopy {
  /// Copies `database` to the new file `url`: SQLite's online backup, in which each transaction is complete or
  /// missing. The copy has mode 0600 and no log beside it.
  static func write(_ database: URL, to url: URL) throws(BackupError) {
    unlink(url.path)
    let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .notWritten(url) }
    close(descriptor)
    let verdict: String?
    do {
      var reading = Configuration()
      reading.readonly = true
      let source = try DatabasePool(path: database.path, configuration: reading)
      let copy = try DatabaseQueue(path: url.path)
      try source.backup(to: copy)
      verdict = try copy.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
      try copy.close()
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw .damagedDatabase(database)
    } catch {
      throw .notWritten(url)
    }
    guard verdict == "ok" else { throw .damagedDatabase(database) }
  }
}

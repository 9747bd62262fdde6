import Foundation
import GRDB
import GRDBSQLite

/// One statement that notes an upload with what its phone is told: its token is spent by that.
struct UploadInsertion {
  private let upload: AdmittedUpload

  /// Notes `upload`.
  init(_ upload: AdmittedUpload) {
    self.upload = upload
  }

  /// Notes it with its usual answer, unless somebody has spent the token before: then nothing is changed.
  ///
  /// - Returns: Whether it is noted.
  /// - Throws: `DatabaseError`, `CancellationError` where the task is cancelled meanwhile.
  func insertUnlessSpent(in db: Database) throws -> Bool {
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
      && binding.binds(upload.token.keptUntil.wholeSeconds, at: 2)
      && binding.binds(upload.digest, at: 3) && binding.binds(upload.decisionIfNew.response, at: 4)
  }

  /// Two tokens are one where their digest is: nothing else of the table is unique.
  private static let sql = """
    INSERT INTO upload (token_digest, kept_until, upload_digest, answer) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING
    """
}

import Foundation
import GRDB
import KeyServerAPI
import World

/// A database as the first release of the key server left it, with rows in it.
///
/// Its text is that of the release and is never changed.
struct FirstSchema {
  let file: URL

  /// Writes the database: its tables, a waiting key for each of `keys`, a used token and a batch.
  init(at file: URL, keys: [UploadKey], releasedAt: Date) throws {
    self.file = file
    let pool = try DatabasePool(path: file.path)
    try pool.write { db in
      try db.execute(sql: Self.tables)
      for key in keys {
        try db.execute(
          sql: """
            INSERT INTO diagnosis_key VALUES (?, ?, ?, ?, 1, 2, 'PL', 0, ?, 0, NULL)
            """,
          arguments: [
            Data(base64Encoded: key.key), Int64(key.rollingStartNumber), Int64(key.rollingPeriod),
            key.transmissionRisk ?? 0, Int64(releasedAt.timeIntervalSince1970),
          ])
      }
    }
    try pool.close()
  }

  /// Adds a used token by its digests.
  func addUpload(token: Data, upload: Data, keptUntil: Date) throws {
    let pool = try DatabasePool(path: file.path)
    try pool.write {
      try $0.execute(
        sql: "INSERT INTO upload VALUES (?, ?, '', ?)",
        arguments: [token, upload, Int64(keptUntil.timeIntervalSince1970)])
    }
    try pool.close()
  }

  private static let tables = """
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
    INSERT INTO grdb_migrations VALUES ('1 uploads, keys, batches');
    CREATE TABLE upload (
      token_digest BLOB NOT NULL PRIMARY KEY CHECK (length(token_digest) = 32),
      upload_digest BLOB NOT NULL CHECK (length(upload_digest) = 32),
      answer TEXT NOT NULL,
      kept_until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX upload_by_end ON upload (kept_until);
    CREATE TABLE batch (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      region TEXT NOT NULL,
      start_at INTEGER NOT NULL,
      end_at INTEGER NOT NULL,
      UNIQUE (region, start_at, end_at)
    ) STRICT;
    CREATE TABLE export_progress (
      region TEXT NOT NULL PRIMARY KEY,
      closed_until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE diagnosis_key (
      key_data BLOB NOT NULL PRIMARY KEY CHECK (length(key_data) = 16),
      rolling_start INTEGER NOT NULL CHECK (rolling_start BETWEEN 0 AND 4294967295),
      rolling_period INTEGER NOT NULL CHECK (rolling_period BETWEEN 1 AND 144),
      transmission_risk INTEGER NOT NULL CHECK (transmission_risk BETWEEN 0 AND 8),
      report_type INTEGER,
      days_since_onset INTEGER,
      regions TEXT NOT NULL,
      travels INTEGER NOT NULL,
      released_at INTEGER NOT NULL,
      is_padding INTEGER NOT NULL,
      batch_id INTEGER REFERENCES batch (id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX diagnosis_key_waiting ON diagnosis_key (released_at) WHERE batch_id IS NULL;
    CREATE INDEX diagnosis_key_by_batch ON diagnosis_key (batch_id, key_data)
      WHERE batch_id IS NOT NULL;
    """
}

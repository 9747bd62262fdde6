import GRDB

/// The tables of the key database, step by step. A step that has shipped is never changed.
enum SQLiteMigrations {
  static var all: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1 uploads, keys, batches") { db in
      try db.execute(sql: uploads)
      try db.execute(sql: batches)
      try db.execute(sql: keys)
    }
    migrator.registerMigration("2 publish: answers, revisions, authorities, statistics") { db in
      for step in Intake.steps { try db.execute(sql: step) }
    }
    migrator.registerMigration("3 exports: files described by their period and filter") {
      try Exports.migrate($0)
    }
    migrator.registerMigration("4 intake: keys wait to be sorted in") {
      try $0.execute(sql: Waiting.keys)
      try $0.execute(sql: Waiting.progress)
    }
    migrator.registerMigration("5 intake: a used token is known by its name alone") {
      try $0.execute(sql: UsedTokens.byName)
    }
    return migrator
  }

  /// Used tokens, under a digest of their name, until `UsedToken.keptUntil`.
  private static let uploads = """
    CREATE TABLE upload (
      token_digest BLOB NOT NULL PRIMARY KEY CHECK (length(token_digest) = 32),
      upload_digest BLOB NOT NULL CHECK (length(upload_digest) = 32),
      answer TEXT NOT NULL,
      kept_until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX upload_by_end ON upload (kept_until);
    """

  private static let batches = """
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
    """

  /// Without row numbers, which would count the keys as they came and so join those of one person.
  private static let keys = """
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

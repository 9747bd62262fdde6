// SPDX-License-Identifier: Apache-2.0
import GRDB
import ServerStorage

/// The tables of the key database.
///
/// A released migration is never changed: later versions append to `migrations`.
enum SQLiteSchema {
  /// The schema with the settings of the file; the reasons are under "Storage" in Documentation/KeyServer.md.
  ///
  /// Keys and tokens are random, so nearly every row changes another page. Small pages reduce the amount of written
  /// data. With a long log, a checkpoint copies only the last version of each page.
  static let schema = DatabaseSchema(
    name: "key database", migrations: makeMigrations(), pageBytes: SQLiteLimit.pageBytes,
    cacheKiB: SQLiteLimit.cacheKiB, checkpointPages: SQLiteLimit.logPages)

  private static func makeMigrations() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1 uploads, keys, exports, authorities, statistics") { db in
      for table in [uploads, keys, exports, revisionKeys, authorities, apps, statistics]
        + [ServerState.table]
      {
        try db.execute(sql: table)
      }
    }
    migrator.registerMigration("2 withdrawn keys of authorities") { db in
      try db.execute(sql: withdrawnKeys)
    }
    migrator.registerMigration("3 editions of key files, issuer of the running server") { db in
      try db.execute(sql: editions)
      try db.execute(sql: servedIssuer)
    }
    migrator.registerMigration("4 earlier hashes of key files") { db in
      try db.execute(sql: earlierHashes)
    }
    migrator.registerMigration("5 removed entries of the register, withdrawn keys") { db in
      try db.execute(sql: removals)
      for entry in RegisterEntry.Kind.allCases { try db.execute(sql: removalTrigger(of: entry)) }
      try db.execute(sql: withdrawnFileKeys)
    }
    migrator.registerMigration("6 imported files") { db in
      try db.execute(sql: importedFiles)
    }
    return migrator
  }

  /// The removals of authorities, keys and apps, each with a random identity. A restored database by which they are
  /// known has got them from here, and what was added again in it stays.
  private static let removals = """
    CREATE TABLE removal (
      identity BLOB NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL,
      entry TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  private static func removalTrigger(of kind: RegisterEntry.Kind) -> String {
    """
    CREATE TRIGGER \(kind.rawValue)_removed AFTER DELETE ON \(kind.rawValue) BEGIN
      INSERT INTO removal VALUES (randomblob(16), '\(kind.rawValue)', \(kind.name(in: "OLD")));
    END;
    """
  }

  /// The diagnosis keys that were in withdrawn files which a restored database does not know, until the files would
  /// expire. `is_revision` is 1 if the file had only the revision of the key.
  private static let withdrawnFileKeys = """
    CREATE TABLE withdrawn_file_key (
      key_data BLOB NOT NULL,
      is_revision INTEGER NOT NULL,
      end_at INTEGER NOT NULL,
      PRIMARY KEY (key_data, is_revision)
    ) STRICT, WITHOUT ROWID;
    """

  /// The files of other servers that were imported, so that an import continues where it was interrupted.
  private static let importedFiles = """
    CREATE TABLE imported_file (
      sha256 BLOB NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
      source TEXT NOT NULL,
      imported_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// The hashes that a file had before it was written again, one after the other: a file that was withdrawn with one of
  /// them is not listed.
  private static let earlierHashes = """
    ALTER TABLE export_file ADD COLUMN earlier_sha256 BLOB;
    """

  /// The issuer that the server was last started with, which an option of `serve` may name.
  private static let servedIssuer = """
    ALTER TABLE server_state ADD COLUMN served_issuer TEXT;
    """

  /// The number in the name of a file, which grows whenever it is written again.
  private static let editions = """
    ALTER TABLE export_file ADD COLUMN edition INTEGER NOT NULL DEFAULT 1;
    """

  /// The time at which an operator withdrew a key. Its row stays, so that the key is not added again.
  private static let withdrawnKeys = """
    ALTER TABLE authority_key ADD COLUMN withdrawn_at INTEGER;
    """

  /// Used tokens with the stored response, until `kept_until`.
  ///
  /// `kept_until` has no index, because every upload would change a page of it. It precedes the response, which may
  /// continue on another page, so that the scan for expired tokens reads one page per row.
  private static let uploads = """
    CREATE TABLE upload (
      token_digest BLOB NOT NULL PRIMARY KEY CHECK (length(token_digest) = 32),
      kept_until INTEGER NOT NULL,
      upload_digest BLOB NOT NULL CHECK (length(upload_digest) = 32),
      response BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// Without row numbers, which would reveal the order of insertion and so the keys of one user. The table is sorted
  /// by key bytes, the order of export files, and has no index on the release: an export reads it once in order.
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
      checksum INTEGER NOT NULL,
      revised_report_type INTEGER,
      revised_transmission_risk INTEGER CHECK (revised_transmission_risk BETWEEN 0 AND 8),
      revised_days_since_onset INTEGER,
      revised_released_at INTEGER,
      revision_checksum INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX diagnosis_key_revised ON diagnosis_key (revised_released_at)
      WHERE revised_released_at IS NOT NULL;
    """

  /// The batches with the hash, time and padding of their files, and until when each export is closed. Keys have no
  /// reference to their files, since one key may be in the files of several exports.
  private static let exports = """
    CREATE TABLE export_file (
      export TEXT NOT NULL,
      region TEXT NOT NULL,
      start_at INTEGER NOT NULL,
      end_at INTEGER NOT NULL,
      released_before INTEGER NOT NULL,
      input_regions TEXT NOT NULL,
      excluded_regions TEXT NOT NULL,
      travellers TEXT NOT NULL,
      first_key BLOB,
      before_key BLOB,
      sha256 BLOB,
      written_at INTEGER,
      padding INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (export, start_at, end_at)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE period_progress (
      export TEXT NOT NULL PRIMARY KEY,
      closed_until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// The keys that seal revision tokens, encrypted with a key outside the database.
  private static let revisionKeys = """
    CREATE TABLE revision_key (
      key_id TEXT NOT NULL PRIMARY KEY,
      sealed BLOB NOT NULL,
      effective_from INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  private static let authorities = """
    CREATE TABLE authority (
      issuer TEXT NOT NULL PRIMARY KEY,
      audience TEXT NOT NULL,
      jwks_url TEXT,
      sees_statistics INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE authority_key (
      issuer TEXT NOT NULL,
      key_id TEXT NOT NULL,
      public_key TEXT NOT NULL,
      good_from INTEGER NOT NULL,
      good_until INTEGER,
      is_pulled INTEGER NOT NULL,
      PRIMARY KEY (issuer, key_id)
    ) STRICT, WITHOUT ROWID;
    """

  private static let apps = """
    CREATE TABLE app (
      id TEXT NOT NULL PRIMARY KEY,
      regions TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE app_authority (
      app_id TEXT NOT NULL,
      issuer TEXT NOT NULL,
      PRIMARY KEY (app_id, issuer)
    ) STRICT, WITHOUT ROWID;
    """

  /// Hourly counts.
  private static let statistics = """
    CREATE TABLE statistic (
      hour INTEGER NOT NULL,
      issuer TEXT NOT NULL,
      kind TEXT NOT NULL,
      bucket INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (hour, issuer, kind, bucket)
    ) STRICT, WITHOUT ROWID;
    """
}

/// The settings of the SQLite file; the reasons are under "Storage" in Documentation/KeyServer.md.
enum SQLiteLimit {
  /// The page size of new files, in bytes.
  static let pageBytes = 2_048
  /// The length of the write-ahead log, in pages, at which a checkpoint starts.
  static let logPages = 131_072
  /// The maximum number of uploads in a commit that indicates light load; under full load commits are larger.
  static let lightLoadUploads = 4
  /// The least time between two checkpoints under light load. Small commits follow each other quickly if clients wait
  /// for them, and each checkpoint delays some.
  static let lightLoadPause = Duration.seconds(10)
  /// The number of transactions in which old keys are removed, and as many for expired tokens; a divisor of 256.
  static let partsOfTables = 64
  /// The page cache of the writing connection, in KiB. In a file below 1 GiB, SQLite looks at every page of the cache
  /// in a commit that has exchanged the numbers of pages, so a larger cache makes commits slower.
  static let cacheKiB = 8_192
  /// The same while a period is closed: the whole table is read once, so a large cache has no use.
  static let cacheKiBWhileClosing = 2_048
}

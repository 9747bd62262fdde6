extension SQLiteMigrations {
  /// Step 2: what `/v1/publish` and `/v1/stats` need.
  enum Intake {
    static let steps = [uploads, revisions, revisionKeys, authorities, statistics]

    /// The answer is kept as bytes. Sorted by the hour of their end, so that those of one hour lie
    /// together and no second index is written for each upload; the end follows from the token.
    private static let uploads = """
      CREATE TABLE kept_upload (
        kept_until INTEGER NOT NULL,
        token_digest BLOB NOT NULL CHECK (length(token_digest) = 32),
        upload_digest BLOB NOT NULL CHECK (length(upload_digest) = 32),
        answer BLOB NOT NULL,
        PRIMARY KEY (kept_until, token_digest)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO kept_upload (kept_until, token_digest, upload_digest, answer)
        SELECT kept_until, token_digest, upload_digest, CAST(answer AS BLOB) FROM upload;
      DROP TABLE upload;
      ALTER TABLE kept_upload RENAME TO upload;
      """

    /// A key is revised once at most: what it has become, when that may be published, and in which
    /// batch it was. Nothing is indexed by release any more: an export reads the table once from one
    /// end to the other, in the order it writes the keys in, and an upload writes one page less a key.
    private static let revisions = """
      ALTER TABLE diagnosis_key ADD COLUMN revised_report_type INTEGER;
      ALTER TABLE diagnosis_key ADD COLUMN revised_transmission_risk INTEGER;
      ALTER TABLE diagnosis_key ADD COLUMN revised_days_since_onset INTEGER;
      ALTER TABLE diagnosis_key ADD COLUMN revised_released_at INTEGER;
      ALTER TABLE diagnosis_key ADD COLUMN revision_batch_id INTEGER;
      CREATE INDEX diagnosis_key_revised ON diagnosis_key (revision_batch_id, key_data)
        WHERE revised_released_at IS NOT NULL;
      DROP INDEX diagnosis_key_waiting;
      """

    /// The keys that seal revision tokens, each sealed itself under a key outside the database.
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

    /// Counts of an hour: one row for each thing that is counted.
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
}

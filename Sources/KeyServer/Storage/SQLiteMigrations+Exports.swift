import GRDB

extension SQLiteMigrations {
  /// Step 3: a file is described by its period, its filter and its range of keys, so that one key can
  /// be in the files of several exports, and closing a period changes no row of a key.
  enum Exports {
    static func migrate(_ db: Database) throws {
      try db.execute(sql: files)
      try db.execute(sql: progress)
      try db.execute(sql: releases)
      try db.execute(sql: keys)
    }

    /// A batch of the first schema becomes the file of the seed contract's export. One that was split
    /// ended a second after the one before it.
    private static let files = """
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
        PRIMARY KEY (export, start_at, end_at)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO export_file
        SELECT '', region, start_at, end_at,
          (SELECT min(b.end_at) FROM batch b
            WHERE b.region = batch.region AND b.start_at = batch.start_at),
          region, '', 'likeEverybody',
          (SELECT min(key_data) FROM diagnosis_key WHERE batch_id = batch.id),
          (SELECT min(key_data) FROM diagnosis_key WHERE batch_id = (
            SELECT b.id FROM batch b WHERE b.region = batch.region
              AND b.start_at = batch.start_at AND b.end_at = batch.end_at + 1))
        FROM batch;
      """

    private static let progress = """
      CREATE TABLE progress (
        export TEXT NOT NULL PRIMARY KEY,
        closed_until INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      INSERT INTO progress
        SELECT '', max(closed_until) FROM export_progress HAVING count(*) > 0;
      DROP TABLE export_progress;
      ALTER TABLE progress RENAME TO export_progress;
      """

    /// A key that is in a batch was released in its period; one that is in none is released after all
    /// periods that are closed.
    private static let releases = """
      UPDATE diagnosis_key SET released_at = (
        SELECT max(batch.start_at, min(diagnosis_key.released_at, batch.end_at - 1,
          (SELECT min(b.end_at) - 1 FROM batch b
            WHERE b.region = batch.region AND b.start_at = batch.start_at)))
        FROM batch WHERE batch.id = batch_id)
        WHERE batch_id IS NOT NULL;
      UPDATE diagnosis_key SET released_at = max(released_at,
        coalesce((SELECT closed_until FROM export_progress WHERE export = ''), released_at))
        WHERE batch_id IS NULL;
      """

    /// Sorted by their bytes and by nothing else: an upload writes one page a key, and an export reads
    /// the table once from one end to the other.
    private static let keys = """
      CREATE TABLE sorted_key (
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
        revised_report_type INTEGER,
        revised_transmission_risk INTEGER CHECK (revised_transmission_risk BETWEEN 0 AND 8),
        revised_days_since_onset INTEGER,
        revised_released_at INTEGER
      ) STRICT, WITHOUT ROWID;
      INSERT INTO sorted_key
        SELECT key_data, rolling_start, rolling_period, transmission_risk, report_type,
          days_since_onset, regions, travels, released_at, is_padding, revised_report_type,
          revised_transmission_risk, revised_days_since_onset, revised_released_at
        FROM diagnosis_key;
      DROP TABLE diagnosis_key;
      DROP TABLE batch;
      ALTER TABLE sorted_key RENAME TO diagnosis_key;
      CREATE INDEX diagnosis_key_revised ON diagnosis_key (revised_released_at)
        WHERE revised_released_at IS NOT NULL;
      """
  }
}

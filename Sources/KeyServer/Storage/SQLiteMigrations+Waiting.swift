extension SQLiteMigrations {
  /// Step 4: keys wait, one row a commit, until they are sorted into their table.
  enum Waiting {
    /// AUTOINCREMENT, so that whoever remembers the latest number sees that another process added a row, also
    /// where that row is gone again.
    static let keys = """
      CREATE TABLE waiting_keys (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        keys BLOB NOT NULL
      ) STRICT;
      """

    /// A program that knows nothing of keys that wait would close periods over them. It looks for this table under its
    /// old name when it opens the file, and fails.
    static let progress = "ALTER TABLE export_progress RENAME TO period_progress;"
  }
}

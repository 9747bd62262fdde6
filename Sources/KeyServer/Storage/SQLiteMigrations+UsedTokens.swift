extension SQLiteMigrations {
  /// Step 5: a used token is known by its name alone (Documentation/Decisions/0019).
  enum UsedTokens {
    /// Two rows of one name are a certificate that was used, issued anew and used again: the later one stays. The
    /// rows come by hours, and within one in the order of the new table.
    ///
    /// Nothing is indexed by the end, as that would be another page to write for each upload. It stands before
    /// the answer, which is longer than a page has room for: who looks for what is over reads no more than
    /// he needs.
    static let byName = """
      CREATE TABLE used_token (
        token_digest BLOB NOT NULL PRIMARY KEY CHECK (length(token_digest) = 32),
        kept_until INTEGER NOT NULL,
        upload_digest BLOB NOT NULL CHECK (length(upload_digest) = 32),
        answer BLOB NOT NULL
      ) STRICT, WITHOUT ROWID;
      INSERT INTO used_token (token_digest, kept_until, upload_digest, answer)
        SELECT token_digest, kept_until, upload_digest, answer FROM upload WHERE true
        ON CONFLICT (token_digest) DO UPDATE SET kept_until = excluded.kept_until,
          upload_digest = excluded.upload_digest, answer = excluded.answer
          WHERE excluded.kept_until > kept_until;
      DROP TABLE upload;
      ALTER TABLE used_token RENAME TO upload;
      """
  }
}

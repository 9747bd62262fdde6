// SPDX-License-Identifier: Apache-2.0
import PostgreSQL
import ServerStorage
import SharedBudgets

/// The tables of the key database in PostgreSQL.
///
/// They are those of `SQLiteSchema` with four differences. Keys are in partitions by the day on which their upload
/// was stored, which are dropped as a whole. Revisions are in a table of their own, with a copy of the key, because a
/// revised key is needed longer. Statistics have a row for each process, so that commits do not wait for each other.
/// Withdrawn files are stored, because several processes share them.
///
/// A released migration is never changed: later versions append to `migrations`.
enum PostgreSQLKeySchema {
  static let schema = PostgreSQLServerDatabase.Schema(
    name: SQLiteSchema.schema.name,
    migrations: [first, second, third, fourth, PostgreSQLCounters.table])

  /// 1: uploads, keys, exports, authorities, statistics.
  private static let first =
    [state, uploads, keys, keysByRelease, revisions, revisionsByRelease, exports, progress]
    + [revisionKeys, authorities, authorityKeys, apps, appAuthorities, statistics]
    + [importedFiles, withdrawnFileKeys, removals]
    + RegisterEntry.Kind.allCases.flatMap(removalTrigger)
    + [ExportLease.table, "INSERT INTO export_lease (id) VALUES (1)"]

  /// 2: withdrawn files.
  private static let second = [withdrawnFiles]

  /// 3: partitions by functions of the owner, for servers whose role does not own the tables.
  private static let third = [
    "SELECT set_config('search_path', concat(quote_ident(current_schema()), ', pg_temp'), true)",
    createPartition, dropPartition,
    "REVOKE EXECUTE ON FUNCTION create_key_partition, drop_key_partition FROM PUBLIC",
  ]

  /// 4: the state that all processes share.
  private static let fourth = [PostgreSQLServerDatabase.sharedStateTable]

  /// The partition is attached, because `PARTITION OF` would wait for running exports.
  private static let createPartition = """
    CREATE FUNCTION create_key_partition(day bigint) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE name text := 'diagnosis_key_' || day;
    BEGIN
      IF to_regclass(name) IS NULL THEN
        EXECUTE format('CREATE TABLE %I (LIKE diagnosis_key INCLUDING ALL)', name);
        EXECUTE format('ALTER TABLE diagnosis_key ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
          name, day, day + 1);
      END IF;
    END $$
    """

  private static let dropPartition = """
    CREATE FUNCTION drop_key_partition(day bigint) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
      EXECUTE format('DROP TABLE %I', 'diagnosis_key_' || day);
    END $$
    """

  /// Keys that were released before `keys_from` and not revised since then count as removed.
  private static let state = """
    ALTER TABLE server_state ADD COLUMN served_issuer text,
      ADD COLUMN keys_from bigint NOT NULL DEFAULT 0
    """

  private static let uploads = """
    CREATE TABLE upload (
      token_digest bytea PRIMARY KEY CHECK (octet_length(token_digest) = 32),
      kept_until bigint NOT NULL,
      upload_digest bytea NOT NULL CHECK (octet_length(upload_digest) = 32),
      response bytea NOT NULL
    )
    """

  /// The columns of a key, without the partition.
  private static let keyColumns = """
    released_at bigint NOT NULL,
    checksum bigint NOT NULL,
    rolling_start bigint NOT NULL CHECK (rolling_start BETWEEN 0 AND 4294967295),
    report_type integer,
    days_since_onset integer,
    rolling_period smallint NOT NULL CHECK (rolling_period BETWEEN 1 AND 144),
    transmission_risk smallint NOT NULL CHECK (transmission_risk BETWEEN 0 AND 8),
    travels boolean NOT NULL,
    is_padding boolean NOT NULL,
    key_data bytea NOT NULL CHECK (octet_length(key_data) = 16),
    regions text NOT NULL
    """

  /// `stored_day` is the day of the first moment that no export had closed when the upload was stored. It is the same
  /// for all uploads that are stored at one time, so that the primary key of one partition finds a key that two of
  /// them contain.
  private static let keys = """
    CREATE TABLE diagnosis_key (
      \(keyColumns),
      stored_day integer NOT NULL,
      PRIMARY KEY (key_data, stored_day)
    ) PARTITION BY RANGE (stored_day)
    """

  private static let keysByRelease = """
    CREATE INDEX diagnosis_key_released ON diagnosis_key (released_at)
    """

  private static let revisions = """
    CREATE TABLE key_revision (
      \(keyColumns),
      revised_released_at bigint NOT NULL,
      revision_checksum bigint NOT NULL,
      revised_report_type integer,
      revised_days_since_onset integer,
      revised_transmission_risk smallint CHECK (revised_transmission_risk BETWEEN 0 AND 8),
      PRIMARY KEY (key_data)
    )
    """

  private static let revisionsByRelease = """
    CREATE INDEX key_revision_released ON key_revision (revised_released_at)
    """

  private static let exports = """
    CREATE TABLE export_file (
      export text NOT NULL,
      region text NOT NULL,
      start_at bigint NOT NULL,
      end_at bigint NOT NULL,
      released_before bigint NOT NULL,
      input_regions text NOT NULL,
      excluded_regions text NOT NULL,
      travellers text NOT NULL,
      first_key bytea,
      before_key bytea,
      sha256 bytea,
      earlier_sha256 bytea,
      written_at bigint,
      padding bigint NOT NULL DEFAULT 0,
      edition bigint NOT NULL DEFAULT 1,
      PRIMARY KEY (export, start_at, end_at)
    )
    """

  private static let progress = """
    CREATE TABLE period_progress (export text PRIMARY KEY, closed_until bigint NOT NULL)
    """

  private static let revisionKeys = """
    CREATE TABLE revision_key (
      key_id text PRIMARY KEY,
      sealed bytea NOT NULL,
      effective_from bigint NOT NULL
    )
    """

  private static let authorities = """
    CREATE TABLE authority (
      issuer text PRIMARY KEY,
      audience text NOT NULL,
      jwks_url text,
      sees_statistics boolean NOT NULL
    )
    """

  private static let authorityKeys = """
    CREATE TABLE authority_key (
      issuer text NOT NULL,
      key_id text NOT NULL,
      public_key text NOT NULL,
      good_from bigint NOT NULL,
      good_until bigint,
      is_pulled boolean NOT NULL,
      withdrawn_at bigint,
      PRIMARY KEY (issuer, key_id)
    )
    """

  private static let apps = "CREATE TABLE app (id text PRIMARY KEY, regions text NOT NULL)"

  private static let appAuthorities = """
    CREATE TABLE app_authority (
      app_id text NOT NULL,
      issuer text NOT NULL,
      PRIMARY KEY (app_id, issuer)
    )
    """

  /// The files of other servers that were imported.
  private static let importedFiles = """
    CREATE TABLE imported_file (
      sha256 bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
      source text NOT NULL,
      imported_at bigint NOT NULL
    )
    """

  /// As in `SQLiteSchema`.
  private static let withdrawnFileKeys = """
    CREATE TABLE withdrawn_file_key (
      key_data bytea NOT NULL,
      is_revision boolean NOT NULL,
      end_at bigint NOT NULL,
      PRIMARY KEY (key_data, is_revision)
    )
    """

  /// The files that an operator has withdrawn: each process has a device configuration of its own, and that of another
  /// one may not have them yet. `withdrawn_at` is in Unix seconds; a row is needed until its file expires.
  private static let withdrawnFiles = """
    CREATE TABLE withdrawn_file (
      sha256 bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
      withdrawn_at bigint NOT NULL
    )
    """

  /// As in `SQLiteSchema`.
  private static let removals = """
    CREATE TABLE removal (
      identity uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      kind text NOT NULL,
      entry text NOT NULL
    )
    """

  private static func removalTrigger(of kind: RegisterEntry.Kind) -> [String] {
    [
      """
      CREATE FUNCTION \(kind.rawValue)_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO removal (kind, entry) VALUES ('\(kind.rawValue)', \(removedName(of: kind)));
        RETURN NULL;
      END $$
      """,
      """
      CREATE TRIGGER \(kind.rawValue)_removed AFTER DELETE ON \(kind.rawValue)
        FOR EACH ROW EXECUTE FUNCTION \(kind.rawValue)_removed()
      """,
    ]
  }

  /// `RegisterEntry.Kind.name(in:)`, without the function of SQLite.
  private static func removedName(of kind: RegisterEntry.Kind) -> String {
    func array(_ columns: String...) -> String {
      "concat('[', concat_ws(',', \(columns.map { "to_json(OLD.\($0))" }.joined(separator: ", "))), ']')"
    }
    return switch kind {
    case .authority: "OLD.issuer"
    case .authorityKey: array("issuer", "key_id", "public_key")
    case .app: "OLD.id"
    case .appAuthority: array("app_id", "issuer")
    }
  }

  /// `process` is a number that each process draws.
  private static let statistics = """
    CREATE TABLE statistic (
      hour bigint NOT NULL,
      issuer text NOT NULL,
      kind text NOT NULL,
      bucket bigint NOT NULL,
      process smallint NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (hour, issuer, kind, bucket, process)
    )
    """
}

/// A partition of `diagnosis_key`: the keys whose uploads were stored on one day.
struct KeyPartition: Hashable {
  /// Days since 1970-01-01, in UTC.
  let day: Int

  /// Creates the partition if it is missing.
  func create(_ transaction: PostgreSQLTransaction) throws {
    try transaction.run("SELECT create_key_partition($1)", .integer(day))
  }

  /// Drops the partition with its keys.
  func drop(_ transaction: PostgreSQLTransaction) throws {
    try transaction.run("SELECT drop_key_partition($1)", .integer(day))
  }

  /// All partitions, oldest first.
  static func all(_ transaction: PostgreSQLTransaction) throws -> [KeyPartition] {
    let rows = try transaction.run(
      "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'diagnosis_key'::regclass"
    )
    return rows.indices.compactMap { row in
      rows.text(row, 0)?.split(separator: "_").last.flatMap { Int($0) }
    }.sorted().map { KeyPartition(day: $0) }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Logging
import PostgreSQL
import ServerStorage
import TestSupport
import Testing

/// Backups of databases of which some are in PostgreSQL.
@Suite("The moment of a backup with PostgreSQL", .needs(.process))
struct ClusterBackupMomentTests {
  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  private static let time = Date(timeIntervalSince1970: 1_600_000_000)

  private let folder: TemporaryFolder
  private let schema: DatabaseSchema

  init() throws {
    folder = try TemporaryFolder()
    var migrations = DatabaseMigrator()
    migrations.registerMigration("schema 1") { db in
      try db.execute(
        sql: ServerState.table + """
          CREATE TABLE count (id INTEGER NOT NULL PRIMARY KEY, number INTEGER NOT NULL);
          """)
    }
    schema = DatabaseSchema(name: "database", migrations: migrations)
  }

  private func database() async throws -> PostgreSQLServerDatabase {
    PostgreSQLServerDatabase(
      try await PrivatePostgreSQL.newPatientDatabase(),
      schema: .init(
        name: "database",
        migrations: [["CREATE TABLE count (id bigint PRIMARY KEY, number bigint NOT NULL)"]]),
      secretCheck: nil, connections: 2, logger: Self.logger)
  }

  private func server(_ name: String, _ database: PostgreSQLServerDatabase?) -> BackupServer {
    let copy = DatabaseMove(
      schema, tables: [.init("count", [.init("id", .integer), .init("number", .integer)])])
    return BackupServer(
      name: name,
      database: BackupFile(name: "\(name)/\(name).sqlite", url: folder.path("\(name).sqlite")),
      schema: schema, cluster: database.map { .init($0, copy: copy) })
  }

  /// The numbers in a backup of `servers`.
  private func counts(of servers: [BackupServer], _ round: Int) throws -> [Int] {
    let file = folder.path("backup-\(round)")
    try BackupWriter.write(servers, of: folder.url, files: [], to: file, at: Self.time)
    let content = folder.path("content-\(round)")
    _ = try BackupReader.extract(file, into: content)
    return try servers.map { server in
      let copy = content.appendingPathComponent(server.database.name)
      try BackupReader.check(copy, schema: schema, of: file)
      return try DatabaseQueue(waitingAt: copy.path).read {
        try Int.fetchOne($0, sql: "SELECT number FROM count") ?? -1
      }
    }
  }

  @Test("Databases in PostgreSQL and a file that count in turn are copied at most one apart")
  func oneMoment() async throws {
    let databases = [try await database(), try await database(), try await database()]
    let servers = databases.enumerated().map { server("cluster-\($0)", $1) } + [server("file", nil)]
    let file = try ServerDatabase.open(servers[3].database.url, schema: schema)
    for database in databases {
      try await database.transaction { _ = try $0.run("INSERT INTO count VALUES (1, 0)") }
    }
    try await file.write { try $0.execute(sql: "INSERT INTO count VALUES (1, 0)") }
    let counting = Task {
      while !Task.isCancelled {
        for database in databases {
          try await database.transaction { _ = try $0.run("UPDATE count SET number = number + 1") }
        }
        try await file.write { try $0.execute(sql: "UPDATE count SET number = number + 1") }
      }
    }
    defer { counting.cancel() }
    var last = 0
    for round in 1...10 {
      // The servers count between two backups.
      try await Patience.until {
        try await file.read { try Int.fetchOne($0, sql: "SELECT number FROM count") } ?? 0 > last
      }
      let counts = try counts(of: servers, round)
      #expect(counts == counts.sorted(by: >) && counts[0] - counts[3] <= 1, "\(counts)")
      last = counts[0]
    }
    counting.cancel()
    // A backup makes the changes of servers wait, and none fail.
    do { try await counting.value } catch is CancellationError {}
  }

  @Test("Copies to and from PostgreSQL have no limit of time for a statement")
  func unlimited() async throws {
    let (source, target) = (try await database(), try await database())
    try await source.transaction { _ = try $0.run("INSERT INTO count VALUES (1, 7)") }
    // Null where a limit holds, which no table takes.
    let limited = "CASE current_setting('statement_timeout') WHEN '0' THEN number END"
    let columns: [DatabaseMove.Table.Column] = [
      .init("id", .integer), .init("number", .integer, from: limited),
    ]
    let server = BackupServer(
      name: "cluster",
      database: BackupFile(name: "cluster/cluster.sqlite", url: folder.path("cluster.sqlite")),
      schema: schema,
      cluster: .init(source, copy: DatabaseMove(schema, tables: [.init("count", columns)])))
    #expect(try counts(of: [server], 1) == [7])
    try await target.transaction { transaction in
      try transaction.run(
        """
        CREATE FUNCTION limited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF current_setting('statement_timeout') <> '0' THEN RAISE 'limited'; END IF;
          RETURN NEW; END $$
        """)
      _ = try transaction.run(
        "CREATE TRIGGER limited BEFORE INSERT ON count FOR EACH ROW EXECUTE FUNCTION limited()")
    }
    let copy = DatabaseMove(
      schema, tables: [.init("count", [.init("id", .integer), .init("number", .integer)])])
    let file = folder.path("content-1").appendingPathComponent(server.database.name)
    try copy.copy(from: file, to: target) {}
    let stored = try await target.transaction { transaction in
      try transaction.run("SELECT number FROM count").firstInteger
    }
    #expect(stored == 7)
  }

  @Test("Tables that another session keeps locked end the backup, which leaves no file")
  func busy() async throws {
    let database = try await database()
    try await database.transaction { _ = try $0.run("INSERT INTO count VALUES (1, 7)") }
    let (held, release) = (Gate(), DispatchSemaphore(value: 0))
    let holding = Task {
      try await database.transaction { transaction in
        try transaction.run("UPDATE count SET number = 8")
        held.open()
        _ = release.wait(timeout: .now() + .seconds(Patience.seconds))
      }
    }
    try await held.wait()
    #expect(throws: BackupError.inUse("database")) {
      try counts(of: [server("cluster", database)], 1)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path("backup-1").path))
    release.signal()
    try await holding.value
    #expect(try counts(of: [server("cluster", database)], 2) == [8])
  }
}

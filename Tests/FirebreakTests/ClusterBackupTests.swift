// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// Backups of servers whose data is in PostgreSQL, their restoration, and the deletion of all data.
@Suite("Backup of servers with PostgreSQL", .needs(.process)) struct ClusterBackupTests {
  private let cluster: PrivatePostgreSQL

  init() async throws { cluster = try await Self.newCluster() }

  private static func newCluster() async throws -> PrivatePostgreSQL {
    let cluster = try await PrivatePostgreSQL()
    for server in ["verification", "keys", "console"] {
      try await cluster.createDatabase("firebreak_\(server)")
    }
    return cluster
  }

  /// A busy machine may need longer to connect than an operator would wait.
  private func address(_ cluster: PrivatePostgreSQL) -> String {
    cluster.address() + " connect_timeout=60"
  }

  /// Runs an operation on the data in `cluster`.
  private func run(_ arguments: [String], in cluster: PrivatePostgreSQL) async throws -> Run {
    try await Run(arguments, environment: ["DATABASE_URL": address(cluster)])
  }

  /// Tells phones that the service ends.
  private func tell(_ authority: ServedAuthority) async throws {
    let told = try await run(
      ["end-of-service", "tell", "--data", authority.servers.data], in: cluster)
    #expect(told.status == 0, "\(told.errors)")
  }

  private func exists(_ path: String, _ folder: TemporaryFolder) -> Bool {
    FileManager.default.fileExists(atPath: folder.path("data/\(path)").path)
  }

  /// Stopped servers with one used and one unused token, and their backup.
  private func backedUp() async throws -> (file: String, used: String, unused: String) {
    let authority = try await ServedAuthority(arguments: ["--database", address(cluster)])
    let (used, unused) = (try await authority.token(), try await authority.token())
    #expect(try await authority.upload(token: used).status == 200)
    let account = ["console", "account", "add", "--role", "administrator", "--name", "Anna"]
    let added = try await run(account + ["--data", authority.servers.data], in: cluster)
    #expect(added.status == 0, "\(added.errors)")
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("backup-\(UUID().uuidString)").path
    // While the servers run.
    let backup = try await run(["backup", file, "--data", authority.servers.data], in: cluster)
    #expect(backup.status == 0, "\(backup.errors)")
    #expect(try await authority.upload(token: unused).status == 200)
    #expect(try await authority.servers.stop() == 0)
    return (file, used, unused)
  }

  @Test(
    "A backup of running servers is restored to another cluster and to files, as often as it is needed"
  )
  func restored() async throws {
    let (file, used, unused) = try await backedUp()
    defer { unlink(file) }
    let verified = try await Run("verify-backup", file)
    #expect(verified.status == 0, "\(verified.errors)")
    for cluster in [try await Self.newCluster(), try await Self.newCluster(), nil] {
      let place = try TemporaryFolder()
      let arguments = cluster.map { ["--database", address($0)] } ?? []
      let restored = try await Run(
        ["restore", file, "--data", place.path("data").path] + arguments)
      #expect(restored.status == 0, "\(restored.errors)")
      for server in ["verification", "keys", "console"] {
        #expect(exists("\(server)/postgresql.json", place) == (cluster != nil))
        #expect(exists("\(server)/\(server).sqlite", place) == (cluster == nil))
        #expect(!exists("\(server)/\(server).sqlite-wal", place))
      }
      let recover = [
        "console", "account", "recover", "--name", "Anna", "--data", place.path("data").path,
      ]
      let environment = cluster.map { ["DATABASE_URL": address($0)] } ?? [:]
      let recovered = try await Run(recover, environment: environment)
      #expect(recovered.status == 0, "\(recovered.errors)")
      let authority = try await ServedAuthority(arguments: arguments, in: place)
      #expect(try await authority.upload(token: used).status != 200)
      // It was used after the backup.
      #expect(try await authority.upload(token: unused).status == 200)
      #expect(try await authority.upload(token: try await authority.token()).status == 200)
      #expect(try await authority.servers.stop() == 0)
      guard let cluster else { continue }
      #expect(try await cluster.run("SELECT count(*) FROM upload", in: "firebreak_keys") == 3)
    }
  }

  @Test("A restoration that is refused, or cannot place its files, stores nothing in a database")
  func refused() async throws {
    let (file, _, unused) = try await backedUp()
    defer { unlink(file) }
    let place = try TemporaryFolder()
    let restore = ["restore", file, "--data", place.path("data").path]
    let occupied = try await run(restore, in: cluster)
    #expect(occupied.status == 2 && occupied.errors.contains("has data already"), "\(occupied)")
    #expect(!exists("keys", place))
    let empty = try await Self.newCluster()
    try ServedAuthority.write(["root-public-key.pem": "of another service"], in: place)
    let differing = try await run(restore, in: empty)
    #expect(
      differing.status == 2 && differing.errors.contains("differs from that of the backup"),
      "\(differing)")
    for (table, server) in [
      ("issue", "verification"), ("upload", "keys"), ("account", "console"),
    ] {
      #expect(
        try await empty.run("SELECT count(*) FROM \(table)", in: "firebreak_\(server)") == 0)
    }
    #expect(!exists("keys/postgresql.json", place))
    try FileManager.default.removeItem(at: place.path("data/root-public-key.pem"))
    #expect(try await run(restore, in: empty).status == 0)
    let authority = try await ServedAuthority(
      arguments: ["--database", address(empty)], in: place)
    #expect(try await authority.upload(token: unused).status == 200)
  }

  @Test("The end of a service deletes all tables, also those of moves, after an interruption, too")
  func deleted() async throws {
    let authority = try await ServedAuthority(arguments: ["--database", address(cluster)])
    try await tell(authority)
    #expect(try await authority.servers.stop() == 0)
    _ = try await cluster.run("CREATE SCHEMA moved_1", in: "firebreak_keys")
    _ = try await cluster.run("CREATE TABLE moved_1.upload (a bytea)", in: "firebreak_keys")
    let certificate = authority.folder.path("deletion.json")
    let delete = [
      "end-of-service", "delete", "--confirm", "--certificate", certificate.path, "--data",
      authority.servers.data,
    ]
    let without = try await Run(delete)
    #expect(without.status == 2 && without.errors.contains("set DATABASE_URL"), "\(without)")
    #expect(exists("keys/secrets.json", authority.folder))
    #expect(!exists("end-of-service.jsonl", authority.folder))
    // The databases of another cluster are not those of the servers.
    let elsewhere = try await run(delete, in: try await Self.newCluster())
    #expect(elsewhere.status == 2 && elsewhere.errors.contains("is empty"), "\(elsewhere)")
    #expect(exists("keys/secrets.json", authority.folder))
    #expect(!exists("end-of-service.jsonl", authority.folder))
    #expect(!FileManager.default.fileExists(atPath: certificate.path))
    // As after an interruption between the databases and the files.
    try await cluster.emptyDatabase("firebreak_verification")
    try FileManager.default.removeItem(
      at: authority.folder.path("data/verification/secrets.json"))
    try ServedAuthority.write(
      [
        "end-of-service.jsonl":
          #"{"deleting":{"bytes":1,"path":"firebreak_verification public.issue"}}"#
      ], in: authority.folder)
    let run = try await run(delete, in: cluster)
    #expect(run.status == 0, "\(run.errors)")
    let text = try String(contentsOf: certificate, encoding: .utf8)
    for table in ["public.upload", "public.diagnosis_key", "moved_1.upload"] {
      #expect(text.contains("firebreak_keys \(table)"), "\(text)")
    }
    #expect(text.contains("firebreak_console public.account"), "\(text)")
    let left = try await cluster.run(
      "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' OR schemaname LIKE 'moved%'",
      in: "firebreak_keys")
    #expect(left == 0)
    #expect(!exists("keys", authority.folder) && !exists("verification", authority.folder))
  }

  @Test("A database that is used by a session leaves those of all servers as they are")
  func used() async throws {
    let authority = try await ServedAuthority(arguments: ["--database", address(cluster)])
    try await tell(authority)
    #expect(try await authority.servers.stop() == 0)
    let session = Task { [cluster] in
      try await cluster.run("SELECT pg_sleep(600)::text", in: "firebreak_keys")
    }
    defer { session.cancel() }
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'firebreak_keys'"
    try await Patience.until {
      try await cluster.run(sessions + " AND query LIKE '%pg_sleep%'") ?? 0 > 0
    }
    let certificate = authority.folder.path("certificate.json").path
    let delete = [
      "end-of-service", "delete", "--confirm", "--certificate", certificate, "--data",
      authority.servers.data,
    ]
    let run = try await run(delete, in: cluster)
    #expect(run.status == 2 && run.errors.contains("firebreak_keys: stop all"), "\(run)")
    #expect(!exists("end-of-service.jsonl", authority.folder))
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    for server in ["verification", "keys", "console"] {
      #expect(try await cluster.run(tables, in: "firebreak_\(server)") != 0)
    }
    session.cancel()
    _ = await session.result
  }

  @Test("The end of a service names the data that a move to files has left in PostgreSQL")
  func leftByMove() async throws {
    let authority = try await ServedAuthority(arguments: ["--database", address(cluster)])
    try await tell(authority)
    #expect(try await authority.servers.stop() == 0)
    let data = ["--data", authority.servers.data]
    let moved = try await run(["database", "move", "--to-files"] + data, in: cluster)
    #expect(moved.status == 0, "\(moved.errors)")
    let certificate = authority.folder.path("deletion.json").path
    let delete = ["end-of-service", "delete", "--confirm", "--certificate", certificate] + data
    let without = try await Run(delete)
    #expect(without.status == 2 && without.errors.contains("set DATABASE_URL"), "\(without)")
    for server in ["verification", "keys", "console"] {
      let refused = try await run(delete, in: cluster)
      #expect(refused.status == 2 && refused.errors.contains("DROP SCHEMA moved_"), "\(refused)")
      #expect(refused.errors.contains("firebreak_\(server)"), "\(refused)")
      #expect(exists("keys/secrets.json", authority.folder))
      let time = try await cluster.run(
        #"SELECT substr(nspname, 7)::bigint FROM pg_namespace WHERE nspname LIKE 'moved\_%'"#,
        in: "firebreak_\(server)")
      _ = try await cluster.run(
        "DROP SCHEMA moved_\(try #require(time)) CASCADE", in: "firebreak_\(server)")
    }
    let run = try await run(delete, in: cluster)
    #expect(run.status == 0, "\(run.errors)")
    #expect(!exists("keys", authority.folder) && !exists("verification", authority.folder))
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServedSystem
import TestSupport
import Testing

/// `firebreak database check` and `database migrate`.
@Suite("Checks and migrations of databases", .needs(.process)) struct DatabaseCommandTests {
  private static let names = [
    "firebreak_verification", "firebreak_keys", "firebreak_console",
  ]

  private func check(
    _ data: String, _ arguments: [String] = []
  ) async throws -> (run: Run, databases: [String: [String: Any]]) {
    let run = try await Run(["database", "check", "--json", "--data", data] + arguments)
    let list = try run.json()?["databases"] as? [[String: Any]] ?? []
    return (
      run,
      Dictionary(uniqueKeysWithValues: list.map { ($0["server"] as? String ?? "", $0) })
    )
  }

  @Test("Databases in files are checked while the servers run, and a damaged row is reported")
  func files() async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    let data = authority.servers.data
    let (run, databases) = try await check(data)
    #expect(run.status == 0 && databases.count >= 2, "\(run.errors)")
    let keys = try #require(databases["keys"])
    #expect((keys["rows"] as? [String: Int])?["diagnosis_key"] == 1)
    #expect(keys["damagedRows"] as? Int == 0)
    #expect(keys["version"] as? Int == keys["newestVersion"] as? Int)
    let migration = try await Run(["database", "migrate", "--data", data])
    #expect(migration.status == 2 && migration.errors.contains("already runs"))
    #expect(try await authority.servers.stop() == 0)
    try await DatabaseQueue(waitingAt: data + "/keys/keys.sqlite").write {
      try $0.execute(sql: "UPDATE diagnosis_key SET transmission_risk = transmission_risk + 1")
    }
    let damaged = try await check(data)
    #expect(damaged.run.status == 1 && damaged.run.errors.contains("1 damaged row,"))
    #expect(damaged.databases["keys"]?["damagedRows"] as? Int == 1)
    #expect(damaged.databases["verification"]?["fault"] == nil)
  }

  @Test("A file of an older version is not checked; a migration mends that, and keeps the rows")
  func olderFile() async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    let data = authority.servers.data
    #expect(try await authority.servers.stop() == 0)
    try await DatabaseQueue(waitingAt: data + "/keys/keys.sqlite").write { db in
      try db.execute(sql: "DROP TABLE imported_file")
      try db.execute(
        sql: "DELETE FROM grdb_migrations WHERE identifier = '6 imported files'")
    }
    let older = try await check(data)
    #expect(older.run.status == 1 && older.run.errors.contains("older schema"))
    #expect(older.databases["keys"]?["damagedRows"] == nil)
    let migration = try await Run(["database", "migrate", "--data", data])
    #expect(migration.status == 0 && migration.output.contains("from schema 5 to 6"))
    let (run, databases) = try await check(data)
    #expect(run.status == 0, "\(run.errors)")
    #expect((databases["keys"]?["rows"] as? [String: Int])?["diagnosis_key"] == 1)
  }

  @Test(
    "After a migration by the operator, servers run with a role that may not change tables; before it they refuse"
  )
  func otherRole() async throws {
    let cluster = try await PrivatePostgreSQL()
    let place = try TemporaryFolder()
    let data = place.path("data").path
    for name in Self.names {
      try await cluster.createDatabase(name)
      try await cluster.run("CREATE ROLE \(name) LOGIN")
    }
    let owner = ["--database", cluster.address()]
    let servers = ["--database", cluster.address(role: nil)]
    let empty = try await check(data, owner)
    #expect(empty.run.status == 1 && empty.run.errors.contains("is empty"), "\(empty.run.errors)")
    let early = try await Run(["serve", "--port", "0", "--data", data] + servers)
    #expect(early.status == 2 && early.errors.contains("database migrate"), "\(early.errors)")
    let missing = try await Run(
      ["database", "migrate", "--role", "nobody", "--data", data] + owner)
    #expect(missing.status == 2 && missing.errors.contains("no role nobody"), "\(missing.errors)")
    let created = try await Run(["database", "migrate", "--data", data] + owner)
    #expect(created.status == 0 && created.output.contains("created with"), "\(created.errors)")
    for name in Self.names {
      #expect(created.output.contains("the role \(name) has its rights"), "\(created.output)")
    }
    let authority = try await ServedAuthority(arguments: servers, in: place)
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    let (run, databases) = try await check(data, servers)
    #expect(run.status == 0, "\(run.errors)")
    #expect((databases["keys"]?["rows"] as? [String: Int])?["diagnosis_key"] == 1)
    #expect((databases["keys"]?["partitions"] as? [String: Int])?.values.reduce(0, +) == 1)
    let account = try await Run(
      ["console", "account", "add", "--name", "Anna", "--role", "administrator", "--data", data],
      environment: ["DATABASE_URL": cluster.address(role: nil)])
    #expect(account.status == 0, "\(account.errors)")
    let console = try await check(data, servers).databases["console"]
    #expect((console?["rows"] as? [String: Int])?["account"] == 1)
    #expect(console?["database"] as? String == "firebreak_console" && console?["fault"] == nil)
    let again = try await Run(["database", "migrate", "--data", data] + owner)
    #expect(again.status == 0 && again.output.contains("nothing to migrate"), "\(again.errors)")
  }

  @Test(
    "A newer database, one of other secrets and one that is down are named, each with its status")
  func faults() async throws {
    let cluster = try await PrivatePostgreSQL()
    for name in Self.names { try await cluster.createDatabase(name) }
    let arguments = ["--database", cluster.address()]
    let authority = try await ServedAuthority(arguments: arguments)
    let data = authority.servers.data
    #expect(try await authority.servers.stop() == 0)
    let other = try await ServedAuthority()
    #expect(try await other.servers.stop() == 0)
    let secrets = data + "/keys/secrets.json"
    let own = try Data(contentsOf: URL(fileURLWithPath: secrets))
    let foreign = try Data(
      contentsOf: URL(fileURLWithPath: other.servers.data + "/keys/secrets.json"))
    try foreign.write(to: URL(fileURLWithPath: secrets))
    let mixed = try await check(data, arguments)
    #expect(mixed.run.status == 2 && mixed.run.errors.contains("does not belong to"))
    #expect(mixed.databases["verification"]?["damagedRows"] as? Int == 0)
    try own.write(to: URL(fileURLWithPath: secrets))
    try await cluster.run(
      "UPDATE schema_version SET version = version + 1", in: "firebreak_keys")
    for command in ["check", "migrate"] {
      let newer = try await Run(["database", command, "--data", data] + arguments)
      #expect(newer.status == 2 && newer.errors.contains("newer version"), "\(newer.errors)")
    }
    try await cluster.kill()
    let down = try await check(data, arguments)
    #expect(down.run.status == 3 && down.run.errors.contains("did not answer"))
  }
}

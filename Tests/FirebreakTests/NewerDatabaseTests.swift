// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import HealthAuthorityConsole
import KeyServer
import ServedSystem
import ServerStorage
import TestSupport
import Testing
import VerificationServer

@Suite("Databases that a newer version of Firebreak has migrated", .needs(.process))
struct NewerDatabaseTests {
  private let place: TemporaryFolder
  private var data: String { place.path("data").path }

  private static let creation = [
    ["verification-server", "api-key", "add", "--type", "device"],
    [
      "key-server", "authority", "add", "--issuer", "lab", "--audience", "keys", "--jwks-url",
      "https://lab.example/",
    ],
    ["console", "account", "add", "--name", "Anna", "--role", "issuer"],
  ]

  private static let databases = [
    "verification": "code database", "keys": "key database", "console": "database of the console",
  ]

  private static let commands = [
    "verification": [
      ["serve", "--port", "0"], ["serve", "--only", "verification", "--port", "0"],
      [
        "serve", "--only", "verification", "--port", "0", "--developer", "--clock-offset", "3600",
      ],
      ["verification-server", "api-key", "add", "--type", "admin"],
      ["verification-server", "api-key", "list"],
      ["verification-server", "api-key", "revoke", "0123456789abcdef"],
      ["verification-server", "clock"], ["verification-server", "clock", "--confirm"],
      ["backup", "FILE"],
    ],
    "keys": [
      ["serve", "--port", "0"], ["serve", "--only", "keys", "--port", "0"],
      [
        "key-server", "app", "add", "org.example", "--region", "PL", "--authority", "lab",
      ],
      [
        "key-server", "authority", "add", "--issuer", "other", "--audience", "keys", "--jwks-url",
        "https://other.example/",
      ],
      ["key-server", "export", "--now"], ["key-server", "clock"],
      ["key-server", "clock", "--confirm"], ["backup", "FILE"],
    ],
    "console": [
      ["serve", "--port", "0"], ["serve", "--only", "console", "--port", "0"],
      ["console", "account", "add", "--name", "Berta", "--role", "issuer"],
      ["console", "audit", "verify"], ["console", "audit", "export"], ["backup", "FILE"],
    ],
  ]

  init() async throws {
    place = try TemporaryFolder()
    try ServedAuthority.prepare(place)
    for command in Self.creation {
      let run = try await Run(command + ["--data", data])
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  private func database(_ server: String) throws -> DatabaseQueue {
    try DatabaseQueue(waitingAt: place.path("data/\(server)/\(server).sqlite").path)
  }

  @Test(
    "Every command that opens a database of a newer version ends with 2 and one line",
    arguments: databases.keys.sorted())
  func refused(server: String) async throws {
    let name = try #require(Self.databases[server])
    let queue = try database(server)
    func times() throws -> Row? {
      try queue.read { try Row.fetchOne($0, sql: "SELECT * FROM server_state") }
    }
    try await queue.write {
      try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 of a newer version')")
    }
    let before = try times()
    let backup = place.path("backup")
    for command in try #require(Self.commands[server]) {
      let run = try await Run(
        command.map { $0 == "FILE" ? backup.path : $0 } + ["--data", data])
      #expect(run.status == 2 && run.output.isEmpty, "\(command): \(run.errors)")
      #expect(
        run.errors.hasPrefix("firebreak: The \(name) was written by a newer version"),
        "\(command): \(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(command): \(run.errors)")
    }
    #expect(try times() == before)
    #expect(!FileManager.default.fileExists(atPath: backup.path))
  }

  @Test("A backup of a newer version is not restored, and nothing of it is left")
  func restored() async throws {
    for (server, original) in [
      ("verification", VerificationServer.databaseSchema), ("keys", KeyServer.databaseSchema),
      ("console", HealthAuthorityConsole.databaseSchema),
    ] {
      var schema = original
      schema.migrations.registerMigration("99 of a newer version") { _ in }
      let source = place.path("data/\(server)/\(server).sqlite")
      _ = try ServerDatabase.open(source, schema: schema)
      let backup = place.path("\(server).backup")
      let database = BackupFile(name: "\(server)/\(server).sqlite", url: source)
      try BackupWriter.write(
        [BackupServer(name: server, database: database, schema: schema)], of: place.url, files: [],
        to: backup, at: Date(timeIntervalSince1970: 1_600_000_000))
      let copies = place.path("copies")
      #expect(try await Run("verify-backup", backup.path).status == 2)
      let run = try await Run("restore", backup.path, "--data", copies.path)
      #expect(run.status == 2 && run.errors.contains("newer version"), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(!FileManager.default.fileExists(atPath: copies.path))
    }
  }
}

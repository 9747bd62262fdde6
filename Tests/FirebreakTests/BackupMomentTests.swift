// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import TestSupport
import Testing

@Suite("The moment of a backup")
struct BackupMomentTests {
  private let folder: TemporaryFolder
  private let schema: DatabaseSchema

  init() throws {
    folder = try TemporaryFolder()
    var migrations = DatabaseMigrator()
    migrations.registerMigration("schema 1") { db in
      try db.execute(
        sql: """
          CREATE TABLE count (number INTEGER NOT NULL); INSERT INTO count VALUES (0);
          """)
    }
    schema = DatabaseSchema(name: "database", migrations: migrations)
  }

  private func server(_ name: String) -> BackupServer {
    let file = BackupFile(name: "\(name)/\(name).sqlite", url: folder.path("\(name).sqlite"))
    return BackupServer(name: name, database: file, schema: schema)
  }

  @Test("Databases that count in turn are copied with the same count, or one apart")
  func oneMoment() async throws {
    let servers = (1...8).map { server("server-\($0)") }
    let databases = try servers.map { try ServerDatabase.open($0.database.url, schema: schema) }
    let counting = Task {
      while !Task.isCancelled {
        for database in databases {
          try await database.write { try $0.execute(sql: "UPDATE count SET number = number + 1") }
        }
      }
    }
    defer { counting.cancel() }
    try await Patience.until {
      try await databases[7].read { try Int.fetchOne($0, sql: "SELECT number FROM count") } ?? 0 > 0
    }
    for round in 1...20 {
      let counts = try copiedCounts(of: servers, round)
      #expect(counts == counts.sorted(by: >) && counts[0] - counts[7] <= 1, "\(counts)")
    }
    counting.cancel()
    _ = await counting.result
  }

  private func copiedCounts(of servers: [BackupServer], _ round: Int) throws -> [Int] {
    let file = folder.path("backup-\(round)")
    try BackupWriter.write(
      servers, of: folder.url, files: [], to: file, at: Date(timeIntervalSince1970: 1_600_000_000))
    let content = folder.path("content-\(round)")
    let manifest = try BackupReader.extract(file, into: content)
    #expect(manifest.servers == servers.map(\.name))
    return try servers.map { server in
      let copy = content.appendingPathComponent(server.database.name)
      return try DatabaseQueue(waitingAt: copy.path).read {
        try Int.fetchOne($0, sql: "SELECT number FROM count") ?? 0
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

@Suite("A verification server whose database is lost or damaged")
struct LostDatabaseTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("After the database file is deleted, no code is issued or used, and the fault is reported")
  func deleted() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.newCode()
      #expect(server.server.faults.isEmpty)
      try FileManager.default.removeItem(at: server.configuration.databaseFile)
      #expect(try await server.generate().status >= 500)
      #expect(try await server.redeem(code).status >= 500)
      await server.server.checkStoredData()
      #expect(server.server.faults.contains { $0.contains("deleted or replaced") })
      #expect(server.log.errors.contains { $0.contains("deleted or replaced") })
    }
  }

  @Test("After a check found damage, no code is issued or used")
  func damaged() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.newCode()
      try await server.untilIdle()
      try server.damage()
      await server.server.checkStoredData()
      #expect(server.server.faults.contains { $0.contains("database is damaged") })
      #expect(try await server.generate().status >= 500)
      #expect(try await server.redeem(code).status >= 500)
    }
  }

  @Test("While changes of other processes may be unknown, no code is issued or used")
  func sharedState() async throws {
    let isCurrent = Mutex(true)
    try await RunningServer.run(
      in: folder.url, configure: { $0.isCurrent = { isCurrent.withLock { $0 } } }
    ) { server async throws in
      let code = try await server.newCode()
      isCurrent.withLock { $0 = false }
      #expect(try await server.generate().status == 503)
      #expect(try await server.redeem(code).status == 503)
      #expect(try await server.get(VerificationRoute.keys).status == 503)
      #expect(try await server.get("/health").status == 200)
      try await Patience.until {
        String(decoding: try await server.get("/ready").body, as: UTF8.self)
          .contains(#""faults":["shared_state"]"#)
      }
      isCurrent.withLock { $0 = true }
      #expect(try await server.redeem(code).status == 200)
    }
  }

  @Test("A database that is replaced by a copy of itself is not written any more")
  func replaced() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let file = server.configuration.databaseFile
      let copy = file.appendingPathExtension("copy")
      try FileManager.default.copyItem(at: file, to: copy)
      #expect(rename(copy.path, file.path) == 0)
      #expect(try await server.generate().status >= 500)
      await server.server.checkStoredData()
      #expect(!server.server.faults.isEmpty)
    }
  }
}

extension RunningServer {
  /// Overwrites a page that the routes do not read: the beginning of the reports of phones.
  fileprivate func damage() throws {
    let queue = try database()
    let offset = try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      let page = try Int.fetchOne(
        db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'report'")
      let pageBytes = try Int.fetchOne(db, sql: "PRAGMA page_size")
      return try (#require(page) - 1) * #require(pageBytes)
    }
    let file = try FileHandle(forUpdating: configuration.databaseFile)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(count: 64))
    try file.close()
    // A transaction of another connection empties the caches of the server.
    try queue.write { try $0.execute(sql: "UPDATE server_state SET confirmed_time = NULL") }
  }
}

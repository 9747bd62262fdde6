// SPDX-License-Identifier: Apache-2.0
import Foundation
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

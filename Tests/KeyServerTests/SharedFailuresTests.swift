// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Logging
import PostgreSQL
import TestSupport
import Testing

@testable import KeyServer

/// Failed requests at two key servers with one database.
@Suite("Failures at several key servers", .needs(.process)) struct SharedFailuresTests {
  /// Runs `body` against two servers with one database and a limit of four failures.
  private func run(
    _ body: ([RunningKeyServer]) async throws -> Void
  ) async throws {
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let authority = Authority()
    func run(_ test: (RunningKeyServer) async throws -> Void) async throws {
      try await RunningKeyServer.run(
        authority: authority,
        {
          $0.databaseAddress = address
          $0.uploadAttempts = 4
        }, test)
    }
    try await run { first async throws in
      try await run { second async throws in try await body([first, second]) }
    }
  }

  @Test("Failed uploads of an address have one limit, and valid ones are accepted by both")
  func uploads() async throws {
    try await run { servers async throws in
      let bad = try await servers[0].request(servers[0].keys(1)) {
        $0.data.verificationPayload = nil
      }
      for server in servers {
        #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      }
      for number in 0..<4 { #expect(try await servers[number % 2].upload(bad).status == 401) }
      for server in servers {
        #expect(try await server.upload(bad).status == 429)
        #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      }
    }
  }

  @Test("A failure is removed after its window with the next removal, without a further failure")
  func removal() async throws {
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let database = PostgreSQLDatabase(
      address, connections: 1,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    func number(_ sql: String) async throws -> Int64? {
      try await database.transaction { try $0.run(sql).firstInteger }
    }
    try await RunningKeyServer.run({ $0.databaseAddress = address }) { server async throws in
      let bad = try await server.request(server.keys(1)) { $0.data.verificationPayload = nil }
      #expect(try await server.upload(bad).status == 401)
      // It is stored a moment later.
      try await Patience.until {
        try await number("SELECT (sum(failed) > 0 AND sum(running) = 0)::int FROM budget") == 1
      }
      try await server.server.removeOld()
      #expect(try await number("SELECT (count(*) > 0)::int FROM budget") == 1)
      // The windows have ended.
      _ = try await number("UPDATE budget SET ends_at = ends_at - 10000000 RETURNING part")
      try await server.server.removeOld()
      #expect(try await number("SELECT count(*) FROM budget") == 0)
    }
  }

  @Test("Failed requests for statistics have one limit, apart from uploads")
  func statistics() async throws {
    try await run { servers async throws in
      func status(_ number: Int) async throws -> UInt {
        try await servers[number % 2].post(Data("{}".utf8), to: KeyServerRoute.statistics).status
      }
      for number in 0..<4 { #expect(try await status(number) == 401) }
      for number in 4..<6 { #expect(try await status(number) == 429) }
      let bad = try await servers[0].request(servers[0].keys(1)) {
        $0.data.verificationPayload = nil
      }
      #expect(try await servers[1].upload(bad).status == 401)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import TestSupport
import Testing

@testable import KeyServer

/// The work of a process on the key database in PostgreSQL before its first request.
@Suite("Key database in PostgreSQL: preparation", .needs(.process)) struct PreparedDatabaseTests {
  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func database(_ address: PostgreSQLAddress) -> PostgreSQLServerDatabase {
    KeyServer.database(at: address, logger: Self.logger)
  }

  @Test("The preparation of a database may take longer than a request")
  func prepared() async throws {
    var address = try await PrivatePostgreSQL.newPatientDatabase()
    try await database(address).makeReady()
    // A request has three seconds.
    address.timeFactor = 0.3
    let prepared = PostgreSQLServerDatabase(
      address, schema: PostgreSQLKeySchema.schema, secretCheck: nil, connections: 1,
      logger: Self.logger
    ) { _ = try $0.run("SELECT pg_sleep(4)::text") }
    try await prepared.makeReady()
    await #expect(throws: ServerDatabaseError.self) {
      try await prepared.transaction { _ = try $0.run("SELECT pg_sleep(4)::text") }
    }
  }

  @Test("A server reads from the primary, although the address admits a standby, which is behind")
  func primary() async throws {
    let primary = try await PrivatePostgreSQL()
    try await database(try PostgreSQLAddress(primary.address() + " connect_timeout=60")).makeReady()
    let standby = try await PrivatePostgreSQL(follow: primary)
    var address = try PostgreSQLAddress(
      standby.address(or: primary) + " target_session_attrs=any connect_timeout=60")
    address.timeFactor = 20
    let isStandby = try await database(address).transaction(.snapshot) {
      try $0.run("SELECT pg_is_in_recovery()").bool(0, 0)
    }
    #expect(!isStandby)
  }

  @Test("A process that starts during the preparation of another one waits for its end")
  func preparedByTwo() async throws {
    var address = try await PrivatePostgreSQL.newPatientDatabase()
    try await database(address).makeReady()
    // Locks are waited for two seconds.
    address.timeFactor = 0.4
    let (begun, release) = (Gate(), DispatchSemaphore(value: 0))
    let first = PostgreSQLServerDatabase(
      address, schema: PostgreSQLKeySchema.schema, secretCheck: nil, connections: 1,
      logger: Self.logger
    ) { _ in
      begun.open()
      _ = release.wait(timeout: .now() + .seconds(Patience.seconds))
    }
    let preparing = Task { try await first.makeReady() }
    try await begun.wait()
    let (second, server) = (database(address), try await PrivatePostgreSQL.shared())
    let waiting = Task { try await second.makeReady() }
    // Its session waits for longer than the time of a lock.
    try await Patience.until {
      try await server.run(
        """
        SELECT count(*) FROM pg_stat_activity WHERE datname = '\(address.databaseName)'
          AND wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '3 seconds'
        """) == 1
    }
    release.signal()
    try await preparing.value
    try await waiting.value
  }
}

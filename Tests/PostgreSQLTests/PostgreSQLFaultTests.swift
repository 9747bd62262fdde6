// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQL

/// Lost connections, crashes and servers that hang.
@Suite("PostgreSQL: faults", .needs(.process)) struct PostgreSQLFaultTests {
  /// A database whose limits of time hold.
  private static func database(_ address: String) throws -> PostgreSQLDatabase {
    database(at: try PostgreSQLAddress(address))
  }

  private static func database(
    at address: PostgreSQLAddress, connections: Int = 1
  ) -> PostgreSQLDatabase {
    PostgreSQLDatabase(
      address, connections: connections,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private static func one(_ database: PostgreSQLDatabase) async throws -> Int64? {
    try await database.transaction { try $0.run("SELECT 1").firstInteger }
  }

  @Test("A request whose idle connection was closed by the server is repeated on a new one")
  func terminated() async throws {
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let (database, other) = (Self.database(at: address), Self.database(at: address))
    #expect(try await Self.one(database) == 1)
    let ended = try await other.transaction {
      try $0.run(
        """
        SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """
      ).firstInteger
    }
    #expect(ended == 1)
    #expect(try await Self.one(database) == 1)
  }

  @Test("Requests fail within their time while the server is down, and succeed after its start")
  func crashed() async throws {
    let server = try await PrivatePostgreSQL()
    let database = try Self.database(server.address() + " connect_timeout=60")
    try await database.execute("CREATE TABLE t (a bigint)")
    try await database.execute("INSERT INTO t VALUES (1)")
    try await server.kill()
    let error = await #expect(throws: PostgreSQLError.self) { try await Self.one(database) }
    #expect(error?.kind == .unavailable)
    try await server.start()
    let count = try await database.transaction {
      try $0.run("SELECT count(*) FROM t").firstInteger
    }
    #expect(count == 1)
  }

  @Test("A request to a server that hangs ends at its deadline, and later ones fail within theirs")
  func hanging() async throws {
    let server = try await PrivatePostgreSQL()
    let database = try Self.database(server.address())
    #expect(try await Self.one(database) == 1)
    server.signalAll(SIGSTOP)
    defer { server.signalAll(SIGCONT) }
    for _ in 0..<2 {
      let error = await #expect(throws: PostgreSQLError.self) {
        try await database.transaction(seconds: 0.5) { try $0.run("SELECT 1").count }
      }
      #expect(error?.kind == .connectionLost || error?.kind == .unavailable)
    }
    server.signalAll(SIGCONT)
    // On a busy machine the first connection may take longer than it may.
    try await Patience.until { (try? await Self.one(database)) == 1 }
  }

  @Test("A transaction that loses its connection at COMMIT is repeated only if it is repeatable")
  func outcome() async throws {
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let (database, other) = (Self.database(at: address), Self.database(at: address))
    try await other.execute("CREATE TABLE t (a bigint)")
    // A deferred trigger runs in COMMIT, and ends its own session the first time.
    try await other.transaction(.none) { transaction in
      try transaction.run("CREATE SEQUENCE attempts")
      try transaction.run(
        """
        CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('attempts') % 2 = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
          RETURN NULL;
        END $$
        """)
      try transaction.run(
        """
        CREATE CONSTRAINT TRIGGER t AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION stop()
        """)
    }
    let insert = PostgreSQLStatement("INSERT INTO t VALUES (1)")
    let error = await #expect(throws: PostgreSQLError.self) {
      try await database.transaction { _ = try $0.runLast([insert]) }
    }
    #expect(error?.kind == .outcomeUnknown)
    try await other.execute("SELECT setval('attempts', 2)")
    try await database.transaction(isRepeatable: true) { _ = try $0.runLast([insert]) }
    let count = try await other.transaction {
      try $0.run("SELECT count(*) FROM t").firstInteger
    }
    #expect(count == 1)
  }

  @Test("Deadlocked transactions are repeated")
  func deadlocked() async throws {
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let database = Self.database(at: address, connections: 2)
    try await database.execute("CREATE TABLE t (a bigint)")
    try await database.execute("INSERT INTO t VALUES (0), (1)")
    let attempts = Attempts()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in [Int64(0), 1] {
        group.addTask {
          try await database.transaction { transaction in
            try transaction.run("SELECT FROM t WHERE a = $1 FOR UPDATE", .integer(first))
            attempts.count.add(1, ordering: .relaxed)
            // Each of the first attempts has its lock before one of them waits for the other's.
            while attempts.count.load(ordering: .relaxed) < 2 { usleep(1_000) }
            try transaction.run("SELECT FROM t WHERE a = $1 FOR UPDATE", .integer(1 - first))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(attempts.count.load(ordering: .relaxed) == 3)
  }

  private final class Attempts: Sendable {
    let count = Atomic<Int>(0)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TestSupport
import Testing

@testable import PostgreSQL

@Suite("PostgreSQL: transactions", .needs(.process)) struct PostgreSQLDatabaseTests {
  private static func database(connections: Int = 2) async throws -> PostgreSQLDatabase {
    PostgreSQLDatabase(
      try await PrivatePostgreSQL.newPatientDatabase(), connections: connections,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  @Test("Values of all types, empty ones and NULL keep their bytes")
  func values() async throws {
    let database = try await Self.database()
    let large = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
    let isEqual = try await database.transaction { transaction in
      let rows = try transaction.run(
        "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9", .integer(Int64.min), .bytes(large),
        .text("zażółć"), .bool(true), .bytes(Data()), .text(""), .integer(nil), .bytes(nil),
        .text(nil))
      return rows.integer(0, 0) == .min && rows.bytes(0, 1) == large
        && rows.text(0, 2) == "zażółć" && rows.bool(0, 3) && rows.bytes(0, 4) == Data()
        && rows.text(0, 5) == "" && rows.integer(0, 6) == nil && rows.bytes(0, 7) == nil
        && rows.text(0, 8) == nil
    }
    #expect(isEqual)
  }

  @Test("Arrays become rows", arguments: [0, 1, 1_000])
  func arrays(count: Int) async throws {
    let database = try await Self.database()
    let numbers = (0..<count).map { $0 % 3 == 0 ? nil : Int64($0) }
    let found = try await database.transaction { transaction in
      let rows = try transaction.run(
        "SELECT * FROM unnest($1, $2, $3, $4) AS row (a, b, c, d)", .integers(numbers),
        .byteStrings((0..<count).map { Data("\($0)".utf8) }), .texts((0..<count).map { "\($0)" }),
        .byteStrings((0..<count).map { (UInt64($0), 7) }))
      return rows.indices.map { row in
        rows.integer(row, 0) == numbers[row] && rows.bytes(row, 1) == Data("\(row)".utf8)
          && rows.text(row, 2) == "\(row)" && rows.bytes(row, 3)?.count == 16
      }
    }
    #expect(found == Array(repeating: true, count: count))
  }

  @Test("A row without a partition is told from one that a check refuses, by the name of the check")
  func constraint() async throws {
    let database = try await Self.database()
    try await database.execute(
      "CREATE TABLE t (a bigint CONSTRAINT small CHECK (a < 10)) PARTITION BY RANGE (a)")
    try await database.execute("CREATE TABLE t_0 PARTITION OF t FOR VALUES FROM (0) TO (100)")
    for (value, name) in [(-1, nil), (10, "small")] as [(Int, String?)] {
      let error = await #expect(throws: PostgreSQLError.self) {
        _ = try await database.transaction {
          try $0.run("INSERT INTO t VALUES ($1)", .integer(value)).count
        }
      }
      #expect(error?.sqlState == "23514" && error?.constraint == name)
    }
  }

  @Test("After a failed statement nothing of its transaction is stored, and the connection goes on")
  func failed() async throws {
    let database = try await Self.database(connections: 1)
    try await database.execute("CREATE TABLE t (a bigint PRIMARY KEY)")
    let error = await #expect(throws: PostgreSQLError.self) {
      try await database.transaction { transaction in
        _ = try transaction.run([
          PostgreSQLStatement("INSERT INTO t VALUES ($1)", .integer(1)),
          PostgreSQLStatement("INSERT INTO t VALUES ($1)", .integer(1)),
          PostgreSQLStatement("INSERT INTO t VALUES ($1)", .integer(2)),
        ])
      }
    }
    #expect(error?.kind == .conflict && error?.sqlState == "23505")
    // The detail quotes the value of the row.
    #expect(error?.message.contains("(a)=(1)") == false)
    let count = try await database.transaction {
      try $0.run("SELECT count(*) FROM t").firstInteger
    }
    #expect(count == 0)
  }

  @Test("An error of the request rolls back")
  func thrown() async throws {
    struct Wrong: Error {}
    let database = try await Self.database()
    try await database.execute("CREATE TABLE t (a bigint)")
    await #expect(throws: Wrong.self) {
      try await database.transaction { transaction in
        try transaction.run("INSERT INTO t VALUES (1)")
        throw Wrong()
      }
    }
    try await database.transaction {
      _ = try $0.runLast([PostgreSQLStatement("INSERT INTO t VALUES (2)")])
    }
    let rows = try await database.transaction { try $0.run("SELECT a FROM t").firstInteger }
    #expect(rows == 2)
  }

  @Test("Copied rows arrive as they were sent")
  func copied() async throws {
    let database = try await Self.database()
    try await database.transaction { transaction in
      try transaction.run("CREATE TABLE t (a bigint, b bytea)")
      var number: Int64 = 0
      try transaction.copyIn(
        "COPY t FROM STDIN (FORMAT binary)",
        PostgreSQLCopiedRows(columns: 2) {
          guard number < 20_000 else { return nil }
          number += 1
          return [.integer(number), number % 2 == 0 ? .bytes(nil) : .bytes(Data("\(number)".utf8))]
        })
    }
    let sum = try await database.transaction(.snapshot) { transaction in
      var (sum, count) = (Int64(0), 0)
      try transaction.copyOut("COPY (SELECT * FROM t ORDER BY a) TO STDOUT (FORMAT binary)") {
        let number = $0.nextInteger() ?? 0
        let text = $0.nextBytes().map { String(decoding: $0, as: UTF8.self) }
        if text == (number % 2 == 0 ? nil : "\(number)") { count += 1 }
        sum += number
      }
      return [sum, Int64(count)]
    }
    #expect(sum == [20_000 * 20_001 / 2, 20_000])
    // The connection can be used after it.
    #expect(try await database.transaction { try $0.run("SELECT 1").firstInteger } == 1)
  }

  @Test("More requests than connections all get their results")
  func many() async throws {
    let database = try await Self.database(connections: 3)
    let results = try await withThrowingTaskGroup(of: Int64.self) { group in
      for number in 0..<60 {
        group.addTask {
          try await database.transaction { transaction in
            try transaction.run("SELECT $1 + 1", .integer(number)).firstInteger ?? 0
          }
        }
      }
      return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
    }
    #expect(results == Set(1...60))
    let connections = try await database.transaction {
      try $0.run(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
      ).firstInteger
    }
    #expect(connections ?? 0 <= 3)
  }

  @Test("A cancelled task ends its statement")
  func cancelled() async throws {
    let database = try await Self.database()
    let other = try await database.transaction { try $0.run("SELECT 1").firstInteger }
    #expect(other == 1)
    let task = Task {
      try await database.transaction(seconds: 300) { try $0.run("SELECT pg_sleep(200)").count }
    }
    try await Patience.until {
      try await database.transaction {
        try $0.run(
          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"
        ).firstInteger
      } == 1
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await database.transaction { try $0.run("SELECT 2").firstInteger } == 2)
  }
}

extension PostgreSQLDatabase {
  /// Runs one statement.
  func execute(_ sql: String) async throws {
    _ = try await transaction { try $0.run(sql).count }
  }
}

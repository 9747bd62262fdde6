// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The running transaction of a request. It is valid only during the call that gets it.
///
/// `BEGIN` is sent together with the first statements, and `COMMIT` with the last ones if the request calls
/// `runLast(_:)`, so that a transaction may take a single round trip.
package final class PostgreSQLTransaction {
  /// The isolation of a transaction.
  package enum Mode: Sendable {
    /// Each statement sees what was committed before it.
    case readCommitted
    /// All statements see the same data. Nothing can be changed.
    case snapshot
    /// No transaction: each call of `run` is stored by itself. For statements that refuse a transaction.
    case none

    fileprivate var begin: [PostgreSQLStatement] {
      switch self {
      case .readCommitted: [PostgreSQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED")]
      case .snapshot:
        [PostgreSQLStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]
      case .none: []
      }
    }
  }

  private enum State { case new, open, committing, ended }

  private let connection: PostgreSQLConnection
  private let begin: [PostgreSQLStatement]
  private let deadline: ContinuousClock.Instant
  private var state = State.new

  init(
    on connection: PostgreSQLConnection, _ mode: Mode, until deadline: ContinuousClock.Instant
  ) {
    self.connection = connection
    begin = mode.begin
    self.deadline = deadline
    if begin.isEmpty { state = .ended }
  }

  /// Runs `statements` in one round trip and returns the rows of each.
  ///
  /// - Throws: The failure of the first statement that fails.
  package func run(_ statements: [PostgreSQLStatement]) throws(PostgreSQLError) -> [PostgreSQLRows]
  {
    guard state != .new else {
      state = .open
      return Array(
        try connection.run(begin + statements, until: deadline).dropFirst(begin.count))
    }
    return try connection.run(statements, until: deadline)
  }

  /// Runs one statement and returns its rows.
  @discardableResult
  package func run(
    _ sql: String, _ parameters: PostgreSQLValue...
  ) throws(PostgreSQLError) -> PostgreSQLRows {
    let rows = try run([PostgreSQLStatement(sql, parameters)])
    guard let first = rows.first else {
      throw PostgreSQLError(.connectionLost, "a statement has no result")
    }
    return first
  }

  /// Runs a statement whose text contains values, so that it is not prepared.
  @discardableResult
  package func runOnce(
    _ sql: String, _ parameters: PostgreSQLValue...
  ) throws(PostgreSQLError) -> PostgreSQLRows {
    let rows = try run([PostgreSQLStatement(sql, parameters, isReused: false)])
    guard let first = rows.first else {
      throw PostgreSQLError(.connectionLost, "a statement has no result")
    }
    return first
  }

  /// Runs `statements` and commits, in one round trip. It is the last call of the request.
  package func runLast(
    _ statements: [PostgreSQLStatement]
  ) throws(PostgreSQLError) -> [PostgreSQLRows] {
    let first = state == .new ? begin : []
    state = .committing
    let all = first + statements + [PostgreSQLStatement("COMMIT")]
    let rows = try committing { () throws(PostgreSQLError) in
      try connection.run(all, until: deadline)
    }
    state = .ended
    return Array(rows.dropFirst(first.count).dropLast())
  }

  /// Runs `COPY … TO STDOUT (FORMAT binary)` and calls `body` for each row.
  package func copyOut(
    _ sql: String, _ body: (inout PostgreSQLCopiedRow) throws -> Void
  ) throws {
    if state == .new { _ = try run([]) }
    try connection.copyOut(sql, until: deadline, body)
  }

  /// Runs `COPY … FROM STDIN (FORMAT binary)` with the rows of `rows`.
  package func copyIn(_ sql: String, _ rows: PostgreSQLCopiedRows) throws {
    if state == .new { _ = try run([]) }
    try connection.copyIn(sql, until: deadline, rows.nextChunk)
  }

  /// Commits, unless the request has committed or has run no statement.
  func commit() throws(PostgreSQLError) {
    guard state == .open else { return }
    _ = try runLast([])
  }

  /// Rolls back, unless nothing is open. If this fails, the connection is unusable, and the server rolls back.
  func rollBack() {
    guard state == .open || state == .committing, connection.isUsable else { return }
    do { _ = try connection.run([PostgreSQLStatement("ROLLBACK")], until: deadline) } catch {
      connection.invalidate()
    }
  }

  /// After a lost connection the server may have committed.
  private func committing(
    _ work: () throws(PostgreSQLError) -> [PostgreSQLRows]
  ) throws(PostgreSQLError) -> [PostgreSQLRows] {
    do { return try work() } catch {
      guard error.kind == .connectionLost else { throw error }
      throw PostgreSQLError(.outcomeUnknown, sqlState: error.sqlState, error.message)
    }
  }
}

/// Rows for `COPY … FROM STDIN (FORMAT binary)`.
package final class PostgreSQLCopiedRows {
  private let columns: Int
  private let next: () throws -> [PostgreSQLValue]?
  private var state = State.header

  private enum State { case header, rows, ended }

  /// The size of a chunk at which it is sent, in bytes.
  private static let chunkBytes = 64 * 1024
  /// The signature, no flags, no extension.
  private static let header: [UInt8] =
    Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00] + Array(repeating: 0, count: 8)

  /// - Parameter next: Returns the columns of the next row; nil after the last one.
  package init(columns: Int, _ next: @escaping () throws -> [PostgreSQLValue]?) {
    self.columns = columns
    self.next = next
  }

  /// The next bytes to send; nil after the end marker.
  func nextChunk() throws -> [UInt8]? {
    guard state != .ended else { return nil }
    var chunk: [UInt8] = state == .header ? Self.header : []
    state = .rows
    while chunk.count < Self.chunkBytes {
      guard let row = try next() else {
        state = .ended
        return chunk + PostgreSQLValue.bigEndian(Int16(-1))
      }
      chunk += PostgreSQLValue.bigEndian(Int16(columns))
      for value in row {
        chunk += PostgreSQLValue.bigEndian(Int32(value.encoded?.count ?? -1))
        chunk += value.encoded ?? []
      }
    }
    return chunk
  }
}

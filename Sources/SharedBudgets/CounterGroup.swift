// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import QuietHTTP
import ServerStorage

/// The reservations and changes of one transaction.
struct CounterGroup {
  private let requests: [[(amount: SharedAmount, row: CounterRow)]]
  private let changes: [CounterRow: CounterChange]
  private let now: Int64
  private let cleans: Bool
  private let pauses: Bool
  private let checksTime: Bool

  /// - Parameters:
  ///   - amounts: The reservations.
  ///   - changes: The changes of earlier groups.
  ///   - now: The time of the counters.
  ///   - cleans: True to remove old counters.
  ///   - pauses: True to wait before.
  ///   - checksTime: True to compare `now` with the time of the database.
  init(
    _ amounts: [[SharedAmount]], _ changes: [CounterRow: CounterChange], at now: Int64,
    cleans: Bool, pauses: Bool, checksTime: Bool
  ) {
    requests = amounts.map { amounts in
      amounts.map { ($0, CounterRow($0, now / Int64($0.partSeconds))) }
    }
    self.changes = changes
    self.now = now
    self.cleans = cleans
    self.pauses = pauses
    self.checksTime = checksTime
  }

  /// Adds all amounts, decides which reservations exceed a limit, and subtracts those.
  ///
  /// - Returns: The results, and the time of the database in Unix seconds.
  /// - Throws: `ClockChange`; other errors.
  func store(
    _ transaction: PostgreSQLTransaction
  ) throws -> (reservations: [SharedReservation], time: Int64?) {
    var added: [CounterRow: Int64] = [:]
    for (amount, row) in requests.joined() { added[row, default: 0] += amount.units }
    let rows = Array(added.keys)
    let change = added.reduce(into: changes) {
      $0[$1.key, default: CounterChange()].running += $1.value
    }
    // The time before the statements that may wait.
    var statements = [
      PostgreSQLStatement(Self.time), PostgreSQLStatement("SET LOCAL synchronous_commit = off"),
    ]
    if pauses { statements.append(PostgreSQLStatement("SELECT pg_sleep(0.05)::text")) }
    if isNearBoundary {
      statements.append(
        PostgreSQLStatement(
          "SELECT pg_advisory_xact_lock($1)",
          .integer(PostgreSQLServerDatabase.Lock.budgets.rawValue)))
    }
    if cleans {
      statements.append(
        PostgreSQLStatement(
          "DELETE FROM budget WHERE ends_at < least($1, \(Self.databaseTime))", .integer(now)))
    }
    statements += [
      Self.addition(of: change), PostgreSQLStatement(Self.time), Self.sums(of: rows),
    ]
    let results = try transaction.run(statements)
    try checkTime(results.first?.firstInteger)
    guard let sums = results.last, sums.count == rows.count else {
      throw ServerDatabaseError.unreachable("counters of attempts are missing in its response")
    }
    var used: [CounterRow: CounterChange] = [:]
    for index in sums.indices {
      guard let position = sums.integer(index, 0), rows.indices.contains(Int(position)) else {
        continue
      }
      let row = rows[Int(position)]
      used[row] = CounterChange(
        failed: sums.integer(index, 1) ?? 0,
        running: (sums.integer(index, 2) ?? 0) - (added[row] ?? 0))
    }
    let (reservations, refused) = decide(used)
    _ = try transaction.runLast(refused.isEmpty ? [] : [Self.addition(of: refused)])
    return (reservations, results.dropLast().last?.firstInteger)
  }

  /// Throws if the parts of this group are not those of the database's time, so that nothing is committed.
  private func checkTime(_ time: Int64?) throws {
    guard checksTime, let time, abs(time - now) > Self.boundarySeconds else { return }
    throw ClockChange(time: time)
  }

  /// The statement that reads the clock of the database.
  static let time = "SELECT \(databaseTime)"

  static let databaseTime = "floor(extract(epoch FROM clock_timestamp()))::bigint"

  /// True if another process may count in the part before or after: their rows are others, and would not be waited for.
  private var isNearBoundary: Bool {
    requests.joined().contains { amount, _ in
      let (part, second) = (Int64(amount.partSeconds), now % Int64(amount.partSeconds))
      return second < Self.boundarySeconds || part - second <= Self.boundarySeconds
    }
  }

  /// The seconds before and after the boundary of a part in which groups of all processes wait for each other.
  private static let boundarySeconds: Int64 = 2

  /// Decides in the order of the requests.
  ///
  /// - Returns: The results, and the changes that undo what was refused.
  private func decide(
    _ sums: [CounterRow: CounterChange]
  ) -> (reservations: [SharedReservation], refused: [CounterRow: CounterChange]) {
    var (used, refused) = (sums, [CounterRow: CounterChange]())
    let reservations = requests.map { request -> SharedReservation in
      let failures = request.map { used[$0.row]?.failed ?? 0 }
      let full = request.firstIndex { amount, row in
        let sum = used[row] ?? CounterChange()
        return sum.failed + sum.running + amount.units > amount.limit
      }
      guard let full else {
        for (amount, row) in request { used[row]?.running += amount.units }
        return SharedReservation(
          added: request.map { ($0.amount, $0.row.part) }, failures: failures)
      }
      for (amount, row) in request {
        refused[row, default: CounterChange()].running -= amount.units
      }
      let (amount, _) = request[full]
      return SharedReservation(
        added: [], failures: failures, full: full,
        isFullOfFailures: failures[full] + amount.units > amount.limit)
    }
    return (reservations, refused)
  }

  /// In one order, so that two processes do not wait for each other.
  private static func addition(of changes: [CounterRow: CounterChange]) -> PostgreSQLStatement {
    let rows = changes.filter { !$0.value.isZero }.sorted { $0.key < $1.key }
    return PostgreSQLStatement(
      """
      INSERT INTO budget (counter, key, part, failed, running, ends_at)
      SELECT a, b, c, d, e, f FROM unnest($1, $2, $3, $4, $5, $6) AS row (a, b, c, d, e, f)
      ON CONFLICT (counter, key, part) DO UPDATE
      SET failed = budget.failed + excluded.failed, running = budget.running + excluded.running
      """,
      .integers(rows.map { $0.key.counter }), .byteStrings(rows.map { $0.key.key }),
      .integers(rows.map { $0.key.part }), .integers(rows.map { $0.value.failed }),
      .integers(rows.map { $0.value.running }), .integers(rows.map { $0.key.endsAt }))
  }

  /// The sums of the windows by the position of the row. It is a statement of its own, so that it sees what was
  /// committed while the addition waited for a lock.
  private static func sums(of rows: [CounterRow]) -> PostgreSQLStatement {
    PostgreSQLStatement(
      """
      SELECT e, coalesce(sum(failed), 0)::bigint, coalesce(sum(running), 0)::bigint
      FROM unnest($1, $2, $3, $4, $5) AS row (a, b, c, d, e)
      LEFT JOIN budget ON counter = a AND key = b AND part BETWEEN c AND d
      GROUP BY e
      """,
      .integers(rows.map(\.counter)), .byteStrings(rows.map(\.key)),
      .integers(rows.map(\.window.lowerBound)), .integers(rows.map(\.window.upperBound)),
      .integers(rows.indices.map { Int64($0) }))
  }
}

/// The clock of this process or that of the database was changed, so that a group would be stored in wrong parts.
struct ClockChange: Error {
  /// The time of the database.
  let time: Int64
}

/// The change of one row.
struct CounterChange {
  var failed: Int64 = 0
  var running: Int64 = 0

  var isZero: Bool { failed == 0 && running == 0 }

  mutating func end(_ units: Int64, _ hasFailed: Bool) {
    running -= units
    if hasFailed { failed += units }
  }
}

/// A row of the table.
struct CounterRow: Hashable, Comparable {
  let counter: Int64
  let key: Data
  let part: Int64
  let partSeconds: Int64

  init(_ amount: SharedAmount, _ part: Int64) {
    (counter, key, self.part) = (amount.counter, amount.key.bytes, part)
    partSeconds = Int64(amount.partSeconds)
  }

  /// The first part of the window, and the last one, with which the clock of another process may be ahead.
  var window: ClosedRange<Int64> { part - Int64(SharedLimit.partsOfWindow)...part + 1 }

  var endsAt: Int64 { (part + Int64(SharedLimit.partsOfWindow) + 2) * partSeconds }

  static func < (left: CounterRow, right: CounterRow) -> Bool {
    (left.counter, left.part) == (right.counter, right.part)
      ? left.key.lexicographicallyPrecedes(right.key)
      : (left.counter, left.part) < (right.counter, right.part)
  }
}

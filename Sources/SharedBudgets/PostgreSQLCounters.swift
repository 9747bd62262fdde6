// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import QuietHTTP
import ServerStorage
import World

/// The counters of attempts that all processes with one database share.
///
/// While one group of reservations is stored, the next one accumulates, so that a flood costs one transaction for many
/// attempts. A row is locked until the end of its transaction: two processes never admit more than a limit together.
/// The table is unlogged, and a commit does not wait for the disk: after a crash of the database the counters are
/// empty, as those of a process are after its start.
package actor PostgreSQLCounters: SharedCounters {
  private struct Pending {
    let amounts: [SharedAmount]
    let continuation: CheckedContinuation<SharedReservation, any Error>
    /// The number of times that running attempts had reserved the rest of a limit.
    var tries = 0
  }

  private let database: PostgreSQLServerDatabase
  private let clock: any WallClock
  private let followsDatabase: Bool
  private var pending: [Pending] = []
  /// The changes that the next group stores.
  private var changes: [CounterRow: CounterChange] = [:]
  private var isStoring = false
  private var cleanedAt: Int64 = 0
  /// The seconds by which the clock of the database is ahead of that of this process; nil before the first reservation.
  private var secondsAhead: Int64?

  /// - Parameter followsDatabase: False to count in the windows of `clock`. Otherwise all processes count in those of
  ///   the database's clock, so that one with a wrong clock neither has budgets of its own nor removes those of others.
  package init(
    _ database: PostgreSQLServerDatabase, clock: any WallClock, followsDatabase: Bool = true
  ) {
    self.database = database
    self.clock = clock
    secondsAhead = followsDatabase ? nil : 0
    self.followsDatabase = followsDatabase
  }

  /// The statements that create the table, for the migrations of a schema; a released one, which is never changed.
  package static let table = [
    """
    CREATE UNLOGGED TABLE budget (
      counter bigint NOT NULL,
      key bytea NOT NULL CHECK (octet_length(key) = 16),
      part bigint NOT NULL,
      failed bigint NOT NULL,
      running bigint NOT NULL,
      ends_at bigint NOT NULL,
      PRIMARY KEY (counter, key, part)
    )
    """,
    "CREATE INDEX budget_ends ON budget (ends_at)",
  ]

  /// Removes the counters whose windows have ended, for the periodic removal of old data: a
  /// reservation does it, too, but there may be none for weeks.
  package static let removal = PostgreSQLStatement(
    "DELETE FROM budget WHERE ends_at < \(CounterGroup.databaseTime)")

  package func reserve(_ amounts: [SharedAmount]) async throws -> SharedReservation {
    try await withCheckedThrowingContinuation { continuation in
      pending.append(Pending(amounts: amounts, continuation: continuation))
      start()
    }
  }

  package func end(_ reservation: SharedReservation, hasFailed: Bool) {
    for (amount, part) in reservation.added {
      changes[CounterRow(amount, part), default: CounterChange()].end(amount.units, hasFailed)
    }
    start()
  }

  package func subtract(_ amount: SharedAmount, in part: Int64) {
    // `part` is one of the clock of this process.
    let part = part + (secondsAhead ?? 0) / Int64(amount.partSeconds)
    changes[CounterRow(amount, part), default: CounterChange()].failed -= amount.units
    start()
  }

  private func start() {
    guard !isStoring else { return }
    isStoring = true
    Task { await storeAll() }
  }

  private func storeAll() async {
    while !pending.isEmpty || !changes.isEmpty {
      let group = Array(pending.prefix(Self.reservationsInOneTransaction))
      pending.removeFirst(group.count)
      let stored = changes
      changes = [:]
      await store(group, stored)
    }
    isStoring = false
  }

  private func store(_ group: [Pending], _ stored: [CounterRow: CounterChange]) async {
    do {
      let results = try await reservations(of: group, stored)
      for (pending, result) in zip(group, results) { finish(pending, result) }
    } catch {
      // The changes are lost: those attempts count as running until their window ends. Attempts that wait fail, too, so
      // that none waits for several deadlines of a database that hangs.
      let all = group + pending
      pending = []
      for waiting in all { waiting.continuation.resume(throwing: error) }
    }
  }

  /// Stores a group in one transaction, which is repeated once if a clock was changed since the one before.
  private func reservations(
    of group: [Pending], _ stored: [CounterRow: CounterChange], isRepeated: Bool = false
  ) async throws -> [SharedReservation] {
    // A group of attempts that wait for others is stored after a pause.
    let pauses = !group.isEmpty && group.allSatisfy { $0.tries > 0 }
    let now = try await now()
    let cleans = !(0..<Self.cleanupSeconds).contains(now - cleanedAt)
    let work = CounterGroup(
      group.map(\.amounts), stored, at: now, cleans: cleans, pauses: pauses,
      checksTime: followsDatabase && !isRepeated)
    do {
      let (results, time) = try await database.transaction { try work.store($0) }
      if cleans { cleanedAt = now }
      follow(time)
      return results
    } catch let change as ClockChange {
      follow(change.time)
      return try await reservations(of: group, stored, isRepeated: true)
    }
  }

  /// The time of the counters.
  private func now() async throws -> Int64 {
    if secondsAhead == nil {
      follow(try await database.transaction { try $0.run(CounterGroup.time).firstInteger })
    }
    return clock.now.unixSecond + (secondsAhead ?? 0)
  }

  /// Compares the clock with the time of the database.
  private func follow(_ time: Int64?) {
    guard followsDatabase, let time else { return }
    secondsAhead = time - clock.now.unixSecond
  }

  /// Returns the result, or tries again if running attempts may free a counter.
  private func finish(_ pending: Pending, _ result: SharedReservation) {
    guard result.full != nil, !result.isFullOfFailures, pending.tries < Self.triesMax else {
      return pending.continuation.resume(returning: result)
    }
    var pending = pending
    pending.tries += 1
    self.pending.append(pending)
  }

  /// The number of attempts that are stored in one transaction.
  private static let reservationsInOneTransaction = 64
  /// The time between two removals of old counters, in seconds.
  private static let cleanupSeconds: Int64 = 60
  /// The number of times that an attempt waits for running ones.
  private static let triesMax = 20
}

/// The clock of this process or that of the database was changed, so that a group would be stored in wrong parts.
private struct ClockChange: Error {
  /// The time of the database.
  let time: Int64
}

/// The change of one row.
private struct CounterChange {
  var failed: Int64 = 0
  var running: Int64 = 0

  var isZero: Bool { failed == 0 && running == 0 }

  mutating func end(_ units: Int64, _ hasFailed: Bool) {
    running -= units
    if hasFailed { failed += units }
  }
}

/// A row of the table.
private struct CounterRow: Hashable, Comparable {
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

/// The reservations and changes of one transaction.
private struct CounterGroup {
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

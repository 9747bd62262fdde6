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

  /// Removes the counters whose windows have ended, for the periodic removal of old data: a reservation does it, too,
  /// but there may be none for weeks.
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

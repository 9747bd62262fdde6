// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Logging
import PostgreSQL
import QuietHTTP
import ServerStorage
import SharedBudgets
import World

/// The key database in PostgreSQL, which several server processes may share. Every commit is on the disk of the
/// database server before its uploads get a response.
///
/// The database is made ready by the first call of any function.
struct PostgreSQLKeyStore: KeyStore {
  let database: PostgreSQLServerDatabase
  let skippedRows = SkippedRows()
  let lease: ExportLease
  let filters: KeyPartitionFilters
  private let commits: GroupCommit<AdmittedUpload>

  /// Does not connect yet. Each new one of `exports` begins with the period that contains `now`.
  ///
  /// - Parameters:
  ///   - address: The address of the database.
  ///   - keys: The keys that the database must belong to; nil for no check.
  ///   - exports: The exports of the server.
  ///   - now: The current time.
  ///   - process: The number of this process in the statistics, drawn at random.
  ///   - holder: The name of this process in the lease of exports, drawn at random.
  ///   - checkApps: Checks the stored apps at the start.
  init(
    _ address: PostgreSQLAddress, keys: DatabaseKeys? = nil, exports: [ExportConfiguration] = [],
    at now: Date = Date(unixSecond: 0), process: Int16 = 0, holder: String = "", logger: Logger,
    checkApps: @escaping @Sendable ([AuthorizedApp]) throws -> Void = { _ in }
  ) {
    database = PostgreSQLServerDatabase(
      address, schema: PostgreSQLKeySchema.schema, secretCheck: keys?.check,
      connections: KeyServerLimit.databaseConnections, logger: logger
    ) { transaction in
      try Self.begin(exports, at: now, transaction)
      try checkApps(try Self.registryEntries(transaction).apps)
    }
    lease = ExportLease(holder: holder)
    let (database, filters) = (database, KeyPartitionFilters(logger: logger))
    self.filters = filters
    commits = GroupCommit(affectsAll: { $0 is KeyServerError }) { uploads in
      try await mappingErrors {
        try await Self.accept(uploads, process: process, filters, by: database)
      }
    }
  }

  func makeReady() async throws { try await mappingErrors { try await database.makeReady() } }

  func sharedCounters(_ clock: any WallClock) -> (any SharedCounters)? {
    PostgreSQLCounters(database, clock: clock)
  }

  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance? {
    try await read(.readCommitted) { try PostgreSQLUploads.acceptance(of: upload, $0) }
  }

  func accept(_ upload: AdmittedUpload) async throws -> Acceptance {
    try await commits.accept(upload)
  }

  private static func accept(
    _ uploads: [AdmittedUpload], process: Int16, _ filters: KeyPartitionFilters,
    by database: PostgreSQLServerDatabase
  ) async throws -> [Acceptance] {
    do {
      return try await commit(uploads, process: process, filters, by: database)
    } catch let error as PostgreSQLUploads.MissingPartition {
      let partition = error.partition
      try await database.transaction(isRepeatable: true) { transaction in
        try transaction.run(
          "SELECT pg_advisory_xact_lock($1)",
          .integer(PostgreSQLServerDatabase.Lock.periods.rawValue))
        try partition.create(transaction)
      }
      return try await commit(uploads, process: process, filters, by: database)
    }
  }

  /// A repetition finds the tokens that the first attempt may have used, and returns the stored responses.
  private static func commit(
    _ uploads: [AdmittedUpload], process: Int16, _ filters: KeyPartitionFilters,
    by database: PostgreSQLServerDatabase
  ) async throws -> [Acceptance] {
    let (acceptances, moment) = try await database.transaction(isRepeatable: true) {
      var group = PostgreSQLUploads(uploads, process: process, filters: filters)
      return (try group.accept($0), group.moment)
    }
    filters.follow(moment, in: database)
    return acceptances
  }

  func isInPlace() -> Bool { true }

  func isLogOverdue() -> Bool { false }

  func skippedKeyCount() -> Int { skippedRows.count }

  func clockRecord() async throws -> ClockRecord {
    try await mappingErrors { try await database.clockRecord() }
  }

  func keep(_ now: Date) async throws {
    try await mappingErrors { try await database.keep(now) }
  }

  /// Runs a transaction that reads.
  func read<Value: Sendable>(
    _ mode: PostgreSQLTransaction.Mode = .snapshot,
    seconds: Double = PostgreSQLLimit.requestSeconds,
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value {
    try await mappingErrors { try await database.transaction(mode, seconds: seconds, body) }
  }

  /// Runs a transaction that changes data.
  ///
  /// - Parameter isRepeatable: True if a second commit of the same transaction has no effect.
  func write<Value: Sendable>(
    seconds: Double = PostgreSQLLimit.requestSeconds, isRepeatable: Bool = true,
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value {
    try await mappingErrors {
      try await database.transaction(seconds: seconds, isRepeatable: isRepeatable, body)
    }
  }

  /// Closes the connections.
  func close() {
    filters.stop()
    database.close()
  }
}

extension PostgreSQLKeyStore {
  func removeOld(_ retention: RetentionLimits) async throws {
    let needed = try await write { transaction in
      try transaction.run(
        "DELETE FROM export_file WHERE end_at <= $1", .integer(retention.filesEndedBy.unixSecond))
      let oldest = try transaction.run(
        "SELECT min(start_at) FROM export_file WHERE export <> ALL ($1)", .texts(RollUps.roots)
      ).firstInteger
      let needed = retention.keysFrom(oldestFile: oldest.map { Date(unixSecond: $0) }).unixSecond
      _ = try transaction.runLast([
        PostgreSQLStatement(
          "DELETE FROM withdrawn_file_key WHERE end_at <= $1",
          .integer(retention.filesEndedBy.unixSecond)),
        PostgreSQLStatement(
          "DELETE FROM withdrawn_file WHERE withdrawn_at <= $1",
          .integer(retention.filesEndedBy.unixSecond)),
        PostgreSQLStatement(
          "DELETE FROM imported_file WHERE imported_at < $1",
          .integer(retention.importsFrom.unixSecond)),
        PostgreSQLStatement(
          "DELETE FROM statistic WHERE hour < $1", .integer(retention.countsFrom)),
        PostgreSQLStatement(
          "DELETE FROM upload WHERE kept_until <= $1", .integer(retention.now.unixSecond)),
        PostgreSQLStatement(
          "DELETE FROM key_revision WHERE released_at < $1 AND revised_released_at < $1",
          .integer(needed)),
        PostgreSQLStatement(
          "UPDATE server_state SET keys_from = $1 WHERE keys_from < $1", .integer(needed)),
        PostgreSQLCounters.removal,
      ])
      return needed
    }
    try await dropPartitions(before: needed)
  }

  /// Drops the partitions whose keys all count as removed. Keys are stored on the day of their release or earlier.
  private func dropPartitions(before needed: Int64) async throws {
    let day = Date(unixSecond: needed).unixDay
    let old = try await read { try KeyPartition.all($0).filter { $0.day < day } }
    for partition in old {
      guard try await drop(partition, before: needed) else { return }
    }
  }

  /// Drops a partition, unless it has keys that are needed.
  ///
  /// The table is locked first, for a short time: uploads wait behind this lock, and it waits for exports and checks.
  /// Periods need no lock, because those of an older partition stay closed.
  ///
  /// - Returns: False if the table is in use, so that it has to be repeated later.
  private func drop(_ partition: KeyPartition, before needed: Int64) async throws -> Bool {
    struct InUse: Error {}
    do {
      try await write { transaction in
        try transaction.run("SET LOCAL lock_timeout = '\(KeyServerLimit.tableLockMilliseconds)ms'")
        do throws(PostgreSQLError) {
          try transaction.runOnce("LOCK TABLE diagnosis_key IN ACCESS EXCLUSIVE MODE")
        } catch {
          guard error.sqlState == "55P03" else { throw error }
          throw InUse()
        }
        let openFrom = try Self.progress(transaction).openFrom
        // Another process may have dropped it.
        guard partition.day < openFrom.unixDay,
          try KeyPartition.all(transaction).contains(partition),
          try transaction.run(
            "SELECT FROM diagnosis_key WHERE stored_day = $1 AND released_at >= $2 LIMIT 1",
            .integer(partition.day), .integer(needed)
          ).count == 0
        else { return }
        try partition.drop(transaction)
      }
      return true
    } catch is InUse {
      return false
    }
  }
}

extension PostgreSQLKeyStore {
  /// Checks the checksum of each key. Damaged pages are found if the cluster has checksums of pages.
  func check() async throws -> StoreCheck {
    let damagedKeys = try await mappingErrors {
      try await database.check { try Self.damagedKeys($0) }
    }
    return damagedKeys.map { StoreCheck(damagedKeys: $0) } ?? StoreCheck(isStructureIntact: false)
  }

  /// Counts the keys with a wrong checksum.
  static func damagedKeys(_ transaction: PostgreSQLTransaction) throws -> Int {
    var count = 0
    try PostgreSQLKeyRow.read(.all, transaction) { row in if !row.isIntact { count += 1 } }
    return count
  }
}

/// Runs `work` and turns an error of the database into a `KeyServerError`.
private func mappingErrors<Result: Sendable>(
  _ work: () async throws -> Result
) async throws -> Result {
  do {
    return try await work()
  } catch let error as ServerDatabaseError {
    throw KeyServerError(error)
  }
}

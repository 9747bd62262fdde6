// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import QuietHTTP
import ServerStorage
import World

/// The key database: a set of transactions, each of which is stored completely or not at all.
///
/// Every implementation passes the same test suites (`StoreImplementation` in Tests/KeyServerTests). The
/// decisions inside a transaction are made by the domain types (`UploadPlan`, `ClosingPlan`, `RetentionLimits`,
/// `AuthorityKeyRule`, `StatisticTally`); an implementation only finds and stores rows.
protocol KeyStore: Sendable {
  /// Opens the database, unless it is open.
  ///
  /// - Throws: `KeyServerError`
  func makeReady() async throws

  /// Returns the stored result for the token of `upload`, or nil if the token is unused.
  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance?

  /// Spends the token, inserts or revises the keys, stores the response and updates the statistics, all in
  /// one transaction. Of several uploads with one token, one is accepted.
  func accept(_ upload: AdmittedUpload) async throws -> Acceptance

  /// Returns the apps and authorities in the database.
  func registryEntries() async throws -> RegistryEntries

  /// Stores the issuer that the server starts with.
  func keepServedIssuer(_ issuer: String) async throws

  /// Adds or changes the app `id` in one transaction. `change` gets the stored one, or nil, and the entries of the
  /// database.
  func changeApp(
    _ id: String,
    _ change: @escaping @Sendable (AuthorizedApp?, RegistryEntries) throws -> AuthorizedApp
  ) async throws

  /// Removes the app `id`; returns false if it is not stored.
  func removeApp(_ id: String) async throws -> Bool

  /// Adds or changes the authority `issuer` in one transaction. `change` gets the stored one, or nil, and the entries
  /// of the database. The keys of its result are added to the stored ones.
  func changeAuthority(
    _ issuer: String,
    _ change: @escaping @Sendable (HealthAuthority?, RegistryEntries) throws -> HealthAuthority
  ) async throws

  /// Removes the authority `issuer` with its keys, except withdrawn ones, and from all apps; returns false if it is
  /// not stored.
  func removeAuthority(_ issuer: String) async throws -> Bool

  /// Withdraws a key for good; returns false if it is not stored or was withdrawn before.
  func withdrawKey(_ keyID: String, of issuer: String, at now: Date) async throws -> Bool

  /// Replaces the pulled keys of `issuer` by `keys`, PEM by key ID. Pulled keys not among them expire at `end`.
  ///
  /// - Returns: True if the stored keys changed.
  @discardableResult
  func replacePulledKeys(
    of issuer: String, with keys: [String: String], at now: Date, othersEnd end: Date
  ) async throws -> Bool

  /// Returns the keys that seal revision tokens, oldest first.
  func revisionKeys() async throws -> [SealedRevisionKey]

  /// Adds a key that seals revision tokens and deletes those with the given IDs.
  func add(_ key: SealedRevisionKey, forgetting ids: [String]) async throws

  /// Returns the counters of attempts that all processes with this database share; nil if one process has it.
  func sharedCounters(_ clock: any WallClock) -> (any SharedCounters)?

  /// Returns the counts of an authority's uploads from `start` on, in Unix seconds.
  func statistics(of issuer: String, from start: Int64) async throws -> [StatisticCount]

  /// Runs `work`, which closes periods and writes their files into `folder`, unless another process does so.
  ///
  /// - Returns: nil if another process exports, or began to because `work` took too long.
  func exporting<Value: Sendable>(
    into folder: URL, _ work: @Sendable () async throws -> Value
  ) async throws -> Value?

  /// Throws if `work` of `exporting(into:_:)` runs and another process exports by now.
  func confirmExporting() async throws

  /// Returns the hashes of withdrawn files that the processes with this database have in common.
  func withdrawnFiles() async throws -> Set<KeyFileHash>

  /// Stores that the files with `hashes` are withdrawn since `now`, or not any more.
  func setFiles(_ hashes: [KeyFileHash], areWithdrawn: Bool, at now: Date) async throws

  /// Returns the time until which each export is closed.
  func exportProgress() async throws -> ExportProgress

  /// Lets `body` close periods in one transaction.
  ///
  /// No key is ever added to a closed period; keys of later uploads are released in a later period.
  func closing<Result: Sendable>(
    _ body: @escaping @Sendable (any ClosingRows) throws -> Result
  ) async throws -> Result

  /// Returns all batches, oldest first.
  func batches() async throws -> [Batch]

  /// Stores the hash, the padding and the edition of the written file of `batch`, and `now` if it was written for the
  /// first time.
  func written(_ batch: Batch, sha256: Data, paddingCount: Int, at now: Date) async throws

  /// Lets `body` read the keys of `batch`, which are the same at every call.
  func withKeys<Result: Sendable>(
    of batch: Batch, _ body: @escaping @Sendable (BatchKeys) throws -> Result
  ) async throws -> Result

  /// Returns the files that earlier imports have stored.
  func importedFiles() async throws -> ImportedFiles

  /// Stores the keys of another server's file and remembers the file, in one transaction: keys whose bytes are not
  /// stored are inserted, and revisions apply to stored keys by `RevisionRule`.
  ///
  /// - Returns: The number of inserted and of revised keys.
  func importKeys(_ imported: ImportedKeys) async throws -> (inserted: Int, revised: Int)

  /// Deletes the data that `retention` no longer covers.
  func removeOld(_ retention: RetentionLimits) async throws

  /// Checks all stored data. While its structure is damaged, uploads and exports fail.
  func check() async throws -> StoreCheck

  /// True if the files of the database are still there.
  func isInPlace() -> Bool

  /// True if the write-ahead log grows because checkpoints fail.
  func isLogOverdue() -> Bool

  /// The number of times that a damaged key was left out of a file since the start.
  func skippedKeyCount() -> Int

  /// Returns the times that the clock is compared with.
  func clockRecord() async throws -> ClockRecord

  /// Stores `now` as the newest time.
  func keep(_ now: Date) async throws
}

extension KeyStore {
  /// The database was opened by the initializer.
  func makeReady() async throws {}

  /// One process has the database.
  func sharedCounters(_ clock: any WallClock) -> (any SharedCounters)? { nil }

  /// A database on one machine: the lock of the folder excludes other processes, which wait.
  func exporting<Value: Sendable>(
    into folder: URL, _ work: @Sendable () async throws -> Value
  ) async throws -> Value? {
    try await FolderLock.withLock(on: folder) { try await work() }
  }

  /// The lock of the folder does not end before the process.
  func confirmExporting() async throws {}

  /// The device configuration of the one folder has them.
  func withdrawnFiles() async throws -> Set<KeyFileHash> { [] }

  /// The device configuration of the one folder has them.
  func setFiles(_ hashes: [KeyFileHash], areWithdrawn: Bool, at now: Date) async throws {}

  /// Closes the periods of `plan` that are due, in one transaction.
  ///
  /// - Returns: The new batches; empty if no period is due or none has keys.
  func close(_ plan: ClosingPlan) async throws -> [Batch] {
    try await closing { try plan.close(in: $0) }
  }

  /// Adds an app, or replaces the one with the same ID.
  func add(_ app: AuthorizedApp) async throws {
    try await changeApp(app.id) { _, _ in app }
  }

  /// Adds an authority with its keys, or replaces the one with the same issuer, whose other keys stay.
  func add(_ authority: HealthAuthority) async throws {
    try await changeAuthority(authority.issuer) { _, _ in authority }
  }
}

extension TrustedTime {
  /// The time of `clock`, compared with the times in `store`.
  init(_ clock: any WallClock, _ store: any KeyStore) {
    self.init(clock, record: { try await store.clockRecord() }, keep: { try await store.keep($0) })
  }
}

/// The limits of age for all stored data at one moment.
struct RetentionLimits: Hashable, Sendable {
  /// Used tokens that expire at this moment or earlier are deleted.
  let now: Date
  /// Files whose period ended at this moment or earlier are deleted.
  let filesEndedBy: Date
  /// Imported files are forgotten if they were imported earlier.
  let importsFrom: Date
  /// Statistics of earlier hours are deleted; in Unix seconds.
  let countsFrom: Int64

  init(at now: Date) {
    self.now = now
    filesEndedBy = now.addingTimeInterval(-KeyServerLimit.retentionSeconds)
    importsFrom = now.addingTimeInterval(-KeyServerLimit.importRetentionSeconds)
    countsFrom = StatisticsView.firstDay(at: now)
  }

  /// Returns the moment before which keys are deleted if they were released and last revised before it.
  ///
  /// - Parameter oldestFile: The start of the oldest file that is kept, except roll-ups; it may have to be written
  ///   again, with all its keys. A roll-up has no file any more when the first of its keys may be deleted.
  func keysFrom(oldestFile: Date?) -> Date { min(oldestFile ?? filesEndedBy, filesEndedBy) }
}

/// The result of a check of the whole database.
struct StoreCheck: Hashable, Sendable {
  /// False if the structure of the database is damaged.
  var isStructureIntact = true
  /// The number of keys whose checksums are wrong; they are never published.
  var damagedKeys = 0
}

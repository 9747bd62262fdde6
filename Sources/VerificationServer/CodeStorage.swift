// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServerStorage
import World

/// The storage of the verification server; each function is one transaction.
///
/// All functions throw `VerificationServerError.storageUnavailable` if a required row is damaged or the write failed;
/// then nothing has changed. A code is live up to and including the second of its expiry. Every implementation
/// passes the same test suites: see `StorageImplementation` in the tests.
protocol CodeStorage: Sendable {
  /// Opens the database, unless it is open. Errors of a request do not say why it could not be opened.
  ///
  /// - Throws: `VerificationServerError`
  func makeReady() async throws

  /// Stores the codes that are free, in one transaction, and returns one outcome for each code.
  func issue(_ codes: [HashedCode], at now: Date) async throws -> [IssueOutcome]

  /// Returns the code with this hash, live or expired, until it is removed.
  func code(_ hash: CodeHash) async throws -> StoredCode?

  /// Redeems a live code unless it was redeemed before.
  ///
  /// - Returns: The redemption that is valid from now on, `redemption` or an earlier one; nil if no such
  ///   code is live.
  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption?

  /// Stores the exchange of a token unless it was exchanged before.
  ///
  /// - Returns: The earlier exchange, which stays valid; nil if there was none.
  func exchange(_ exchange: TokenExchange, at now: Date) async throws -> TokenExchange?

  /// The counters that the processes with this database share; nil for a database of one process.
  func sharedCounters(_ clock: any WallClock) -> (any SharedCounters)?

  /// Returns the numbers of codes by day, newest first. Codes that were withdrawn are not counted as issued.
  func counts() async throws -> [CodeCounts]

  /// Returns the numbers of codes by day and issuer, newest first; issuers of a day in the order of their names.
  func issuerCounts() async throws -> [IssuerCount]

  /// Returns the numbers of codes of one day by issuer, in the order of their names.
  func issuerCounts(on day: Int64) async throws -> [IssuerCount]

  /// Adds numbers of attempts to those of their days and keys, and numbers of events to those of their days, kinds and
  /// names. A storage whose commit may have an unknown outcome adds a batch once, however often it is called with it.
  func add(_ batch: AttemptBatch) async throws

  /// Returns the numbers of attempts by day and API key, newest first; keys of a day in the order of their IDs.
  func attemptCounts() async throws -> [AttemptCount]

  /// Returns the status of the code with this handle.
  func status(of handle: UUID) async throws -> CodeStatus?

  /// Ends the code one second before `now`, unless it ended earlier, and returns its status.
  func expire(_ handle: UUID, at now: Date) async throws -> CodeStatus?

  /// Ends the live codes of an issuer that are not redeemed, as `expire(_:at:)`.
  ///
  /// - Parameter issuer: The API key that issued them; nil for the codes that were issued with API tokens.
  /// - Returns: The number of ended codes.
  func expireCodes(of issuer: APIKeyID?, at now: Date) async throws -> Int

  /// Removes the code and the report stored with it, as if the code had never been issued.
  ///
  /// - Parameters:
  ///   - handle: The UUID of the code.
  ///   - externalIssuer: The client's name for the issuer, for which the code was counted.
  func withdraw(_ handle: UUID, externalIssuer: String?) async throws

  /// Ends the wait of a phone for its next user report, and its live codes that are not redeemed.
  ///
  /// - Returns: True if the phone had reported. For another one nothing changes.
  @discardableResult
  func freePhone(_ phoneHash: Data, at now: Date) async throws -> Bool

  /// Counts the live PINs or short codes of `form`, up to `count`.
  func liveCount(of form: CodeForm, at now: Date, atMost count: Int) async throws -> Int

  /// Returns the longest time between the issue and the expiry of the live PINs or short codes of `form`, in seconds; 0
  /// if none is live.
  func longestLifetime(of form: CodeForm, at now: Date) async throws -> TimeInterval

  /// Removes codes that ended before `moment`, exchanges that expired, reports that no longer block a phone, and counts
  /// of more than `VerificationLimit.countedDays` days before, at most `count` of each. Counts of issuers that are
  /// rounded to zero are removed when their day is over.
  ///
  /// - Returns: The number of removed rows.
  func removeExpired(at moment: Date, atMost count: Int) async throws -> Int

  /// Stores a new API key.
  func add(_ key: APIKeyRecord) async throws

  /// Returns the API key, revoked or not.
  func apiKey(_ id: APIKeyID) async throws -> APIKeyRecord?

  /// Returns all API keys, oldest first.
  func apiKeys() async throws -> [APIKeyRecord]

  /// Counts the live codes that are not redeemed, by the API key that issued them.
  func liveCounts(at now: Date) async throws -> [APIKeyID: Int]

  /// Revokes the API key unless it was revoked before; returns false if it does not exist.
  func revokeAPIKey(_ id: APIKeyID, at now: Date) async throws -> Bool

  /// Checks the stored data, and that its files are still there; nil if there is no fault.
  func check() async throws -> StorageFault?

  /// Returns the times that the clock is compared with.
  func clockRecord() async throws -> ClockRecord

  /// Stores `now` as the newest time.
  func keep(_ now: Date) async throws
}

/// A fault of the storage.
enum StorageFault: Hashable, Sendable, CustomStringConvertible {
  /// The structure of the database is damaged.
  case damaged
  /// Values in so many rows were changed.
  case damagedRows(Int)
  case lost

  var description: String {
    switch self {
    case .damaged: ServerDatabaseError.damaged.message(of: SQLiteCodeStorage.schema.name)
    case .damagedRows(let count):
      """
      Damaged rows in the code database: \(count). Their codes and tokens are refused: check its disk, and restore a \
      backup.
      """
    case .lost: ServerDatabaseError.lost.message(of: SQLiteCodeStorage.schema.name)
    }
  }
}

extension TrustedTime {
  /// The time of `clock`, compared with the times in `storage`.
  init(_ clock: any WallClock, _ storage: any CodeStorage) {
    self.init(
      clock, record: { try await storage.clockRecord() }, keep: { try await storage.keep($0) })
  }
}

extension CodeStorage {
  /// A database of one process: its budgets are in memory.
  func sharedCounters(_ clock: any WallClock) -> (any SharedCounters)? { nil }

  /// The database was opened by the initializer.
  func makeReady() async throws {}

  /// Returns the code with this hash if it is live, redeemed or not.
  func liveCode(_ hash: CodeHash, at now: Date) async throws -> StoredCode? {
    guard let code = try await code(hash), code.isLive(at: now) else { return nil }
    return code
  }
}

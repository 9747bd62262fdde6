import ExposureKeys
import Foundation

/// The key database as the domain sees it: whole transactions, each kept or not, never half.
protocol KeyStore: Sendable {
  /// What became of `upload`'s token, or nil where nobody has used it.
  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance?

  /// Spends the token, inserts or revises the keys, stores the answer and counts: all of it or nothing.
  /// Of several uploads with one token one wins.
  func accept(_ upload: AdmittedUpload) async throws -> Acceptance

  /// Apps and authorities that were added to the database.
  func registerEntries() async throws -> RegisterEntries

  /// Writes down an app; one of the same id is replaced.
  func add(_ app: AuthorizedApp) async throws

  /// Writes down an authority with its keys; one of the same issuer keeps those it has besides.
  func add(_ authority: HealthAuthority) async throws

  /// Makes the pulled keys of `issuer` those of `keys`, PEM by id; others that were pulled end at `end`.
  func replacePulledKeys(
    of issuer: String, with keys: [String: String], at now: Date, othersEnd end: Date
  ) async throws

  /// The keys of revision tokens.
  func revisionKeys() async throws -> [SealedRevisionKey]

  /// Adds a key of revision tokens, and forgets those of `ids`.
  func add(_ key: SealedRevisionKey, forgetting ids: [String]) async throws

  /// What was counted of an authority's uploads from `start` on (Unix seconds of an hour).
  func statistics(of issuer: String, from start: Int64) async throws -> [StatisticCount]

  /// Until when the exported region's periods are closed.
  func closedUntil(region: String) async throws -> Date

  /// Closes `plan`'s period: assigns the keys that were released in it, with padding, to files.
  /// Empty where there were none, or where the period is closed already.
  func close(_ plan: BatchPlan) async throws -> [Batch]

  /// Every batch that is kept, oldest first.
  func batches() async throws -> [Batch]

  /// Gives `body` the keys of `batch`, sorted by their bytes, one after the other.
  func withKeys<Result: Sendable>(
    of batch: Batch, _ body: @escaping @Sendable (StoredKeys) throws -> Result
  ) async throws -> Result

  /// Forgets batches that ended by `end` with their keys, keys nobody asked for that were released
  /// by then, and used tokens that were kept until `now`.
  func removeOld(endedBy end: Date, now: Date) async throws
}

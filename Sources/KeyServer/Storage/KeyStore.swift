import ExposureKeys
import Foundation

/// The key database as the domain sees it: whole transactions, each kept or not, never half.
///
/// Every implementation passes the same suites (Tests/KeyServerTests, `StoreImplementation`). What is
/// decided inside a transaction is asked of the domain (`UploadPlan`, `ClosingPlan`, `Retention`,
/// `AuthorityKeyRule`, `StatisticTally`); an implementation finds rows and keeps them.
protocol KeyStore: Sendable {
  /// What became of `upload`'s token, or nil where nobody has used it.
  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance?

  /// Spends the token, inserts or revises the keys, stores the answer and counts: all of it or nothing.
  /// Of several uploads with one token one wins.
  func accept(_ upload: AdmittedUpload) async throws -> Acceptance

  /// Apps and authorities that were added to the database.
  func registryEntries() async throws -> RegistryEntries

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

  /// How far every export has been closed.
  func exportProgress() async throws -> ExportProgress

  /// Closes the periods of `plan` that are due: pads them, and describes their files. Empty where there
  /// were no keys, or where none is due. No key enters a period that is closed: one that comes later
  /// is released later.
  func close(_ plan: ClosingPlan) async throws -> [Batch]

  /// Every batch that is kept, oldest first.
  func batches() async throws -> [Batch]

  /// Lets `body` read the keys of `batch`; the same ones whenever it is asked.
  func withKeys<Result: Sendable>(
    of batch: Batch, _ body: @escaping @Sendable (BatchKeys) throws -> Result
  ) async throws -> Result

  /// Does what was put off, where the store is to be left: another program may read it next.
  func settle() async throws

  /// Forgets what `retention` keeps no longer.
  func removeOld(_ retention: Retention) async throws
}

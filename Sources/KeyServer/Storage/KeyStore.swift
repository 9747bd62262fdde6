import ExposureKeys
import Foundation

/// The key database as the domain sees it: whole transactions, each kept or not, never half.
protocol KeyStore: Sendable {
  /// What became of `upload`'s token, or nil where nobody has used it.
  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance?

  /// Spends the token, inserts the keys and stores the answer. Of several at once one wins; a key
  /// that is known already stays as it is, and nobody is told.
  func accept(_ upload: AdmittedUpload) async throws -> Acceptance

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

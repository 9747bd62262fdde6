import Foundation

/// What the verification server keeps, as the transactions it needs. Each is whole or has not been.
///
/// Every implementation passes the same suite (Tests/VerificationServerTests/CodeStorageSuite). All
/// throw `VerificationServerError.storageUnavailable` where nothing could be kept, and then nothing
/// was. A code is live up to and including the second of its expiry.
protocol CodeStorage: Sendable {
  /// Keeps `code`; false where a live code has the same hash. An expired one is overwritten.
  func issue(_ code: IssuedCode, at now: Date) async throws -> Bool

  /// The live code of that hash, used up or not.
  func liveCode(_ hash: CodeHash, at now: Date) async throws -> LiveCode?

  /// Uses the live code up with `redemption`, unless it has been used up before. Returns the
  /// redemption that holds from now on, this one or the earlier; nil where no such code is live.
  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption?

  /// Removes at most `count` codes that are no longer live; returns how many.
  func removeExpired(at now: Date, atMost count: Int) async throws -> Int
}

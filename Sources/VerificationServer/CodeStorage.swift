import Foundation

/// What the verification server keeps, as the transactions it needs. Each is whole or has not been.
///
/// Every implementation passes the same suites (Tests/VerificationServerTests, `StorageImplementation`). All
/// throw `VerificationServerError.storageUnavailable` where nothing could be kept, and then nothing
/// was. A code is live up to and including the second of its expiry.
protocol CodeStorage: Sendable {
  /// Keeps the codes that can be kept, in one transaction; says of each what became of it, in order.
  func issue(_ codes: [IssuedCode], at now: Date) async throws -> [IssueOutcome]

  /// The code of that hash, live or not, as long as it is remembered.
  func code(_ hash: CodeHash) async throws -> LiveCode?

  /// Uses the live code up with `redemption`, unless it has been used up before. Returns the
  /// redemption that holds from now on, this one or the earlier; nil where no such code is live.
  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption?

  /// Exchanges the token of `exchange`, unless it has been exchanged before. Returns the exchange that
  /// holds from now on, this one or the earlier.
  func exchange(_ exchange: TokenExchange) async throws -> TokenExchange

  /// What became of the code of `handle`.
  func fate(_ handle: UUID) async throws -> CodeFate?

  /// Ends the code of `handle` with the second before `now`, unless it has ended; returns its fate.
  func expire(_ handle: UUID, at now: Date) async throws -> CodeFate?

  /// Takes back the code of `handle` and whatever was kept with it, as if it had never been issued.
  func withdraw(_ handle: UUID) async throws

  /// How many codes are live, counted up to `count`.
  func liveCount(at now: Date, atMost count: Int) async throws -> Int

  /// Removes at most `count` codes that ended before `moment`, and as many spent tokens and reports
  /// that no longer matter; returns how many in all.
  func removeExpired(at moment: Date, atMost count: Int) async throws -> Int

  /// Keeps a new API key.
  func add(_ key: ApiKeyRecord) async throws

  /// The API key of `id`, revoked or not.
  func apiKey(_ id: ApiKeyID) async throws -> ApiKeyRecord?

  /// All API keys, oldest first.
  func apiKeys() async throws -> [ApiKeyRecord]

  /// Ends the API key of `id`, unless it has ended; false where there is none.
  func revokeApiKey(_ id: ApiKeyID, at now: Date) async throws -> Bool
}

extension CodeStorage {
  /// The live code of that hash, used up or not.
  func liveCode(_ hash: CodeHash, at now: Date) async throws -> LiveCode? {
    guard let code = try await code(hash), code.isLive(at: now) else { return nil }
    return code
  }

  /// Keeps `code`.
  func issue(_ code: IssuedCode, at now: Date) async throws -> IssueOutcome {
    try await issue([code], at: now).first ?? .codeTaken
  }
}

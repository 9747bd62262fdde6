import Foundation
import Hummingbird
import QuietHTTP
import World

/// The attempts that are counted, by address, by code and by API key.
///
/// Documentation/VerificationServer.md 8.
struct Attempts: Sendable {
  private let keys: BudgetKeys
  private let byAddress: AttemptBudget
  private let byCode: AttemptBudget
  private let byApiKey: AttemptBudget
  private let issues: AttemptBudget

  init(_ limits: AttemptLimits, clock: any WallClock, randomness: any Randomness) {
    keys = BudgetKeys(from: randomness)
    byAddress = AttemptBudget(
      attempts: limits.perAddress, windowSeconds: limits.windowSeconds, clock: clock)
    byCode = AttemptBudget(
      attempts: limits.perCode, windowSeconds: limits.windowSeconds, clock: clock)
    byApiKey = AttemptBudget(
      attempts: limits.perApiKey, windowSeconds: limits.windowSeconds, clock: clock)
    issues = AttemptBudget(
      attempts: limits.issuesPerApiKey, windowSeconds: AttemptLimits.issueWindowSeconds,
      clock: clock)
  }

  /// Counts an attempt from the client's address before anything is looked up.
  func count(from context: QuietContext) async throws(QuietRefusal) {
    try Self.allow(await byAddress.spend(keys.key(for: context)))
  }

  /// Refuses an address that has no attempt left, and counts nothing: credentials cannot be guessed, so
  /// failures are counted when they are known, and honest callers may come many at a time.
  func check(_ context: QuietContext) async throws(QuietRefusal) {
    try Self.allow(await byAddress.secondsToWait(keys.key(for: context)))
  }

  /// Counts an attempt with a code, be there such a code or not.
  func count(with hash: CodeHash) async throws(QuietRefusal) {
    try Self.allow(await byCode.spend(key(of: hash)))
  }

  /// Counts an attempt under an API key that all phones of an app share.
  func count(under id: ApiKeyID?) async throws(QuietRefusal) {
    try Self.allow(await byApiKey.spend(key(of: id)))
  }

  /// Counts a code that is to be issued under an API key.
  func countIssue(under id: ApiKeyID?) async throws(QuietRefusal) {
    try Self.allow(await issues.spend(key(of: id)))
  }

  /// Takes the address's latest attempt back: it was an honest one.
  func forgive(_ context: QuietContext) async {
    await byAddress.giveBack(keys.key(for: context))
  }

  /// Takes the latest attempt with a code back: it failed through no fault of who asked.
  func forgive(_ hash: CodeHash) async {
    await byCode.giveBack(key(of: hash))
  }

  /// Takes the latest attempt under an API key back: it was an honest one.
  func forgive(under id: ApiKeyID?) async {
    await byApiKey.giveBack(key(of: id))
  }

  /// Takes the latest issue back: there was none.
  func forgiveIssue(under id: ApiKeyID?) async {
    await issues.giveBack(key(of: id))
  }

  /// Does `work` with a code, counted, on storage. Where it fails through a fault of ours, nothing that was
  /// counted for it stays counted.
  ///
  /// - Throws: `QuietRefusal`.
  func fairly<Value: Sendable>(
    with hash: CodeHash? = nil, under id: ApiKeyID? = nil, from context: QuietContext,
    _ work: () async throws -> Value
  ) async throws(QuietRefusal) -> Value {
    if let hash { try await count(with: hash) }
    do throws(QuietRefusal) {
      return try await QuietRefusal.whereStorageFails(context.logger, work)
    } catch {
      await forgive(context)
      if let id { await forgive(under: id) }
      if let hash { await forgive(hash) }
      throw error
    }
  }

  private func key(of hash: CodeHash) -> BudgetKey {
    keys.key(for: hash.bytes.base64EncodedString())
  }

  private func key(of id: ApiKeyID?) -> BudgetKey { keys.key(for: "api key \(id?.text ?? "")") }

  private static func allow(_ waitSeconds: Int?) throws(QuietRefusal) {
    if let waitSeconds { throw .tooManyAttempts(retryAfterSeconds: waitSeconds) }
  }
}

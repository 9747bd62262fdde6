import Foundation
import Hummingbird
import QuietHTTP
import World

/// The counts of attempts by address, by code and by API key.
struct Attempts: Sendable {
  private let keys: BudgetKeys
  private let byAddress: AttemptBudget
  private let byCode: AttemptBudget
  private let byAPIKey: AttemptBudget
  private let issues: AttemptBudget

  init(_ limits: AttemptLimits, clock: any WallClock, randomness: any Randomness) {
    keys = BudgetKeys(from: randomness)
    byAddress = AttemptBudget(
      attempts: limits.perAddress, windowSeconds: limits.windowSeconds, clock: clock)
    byCode = AttemptBudget(
      attempts: limits.perCode, windowSeconds: limits.windowSeconds, clock: clock)
    byAPIKey = AttemptBudget(
      attempts: limits.perApiKey, windowSeconds: limits.windowSeconds, clock: clock)
    issues = AttemptBudget(
      attempts: limits.issuesPerApiKey, windowSeconds: AttemptLimits.issueWindowSeconds,
      clock: clock)
  }

  /// Counts an attempt from the client's address, before anything is looked up.
  func count(from context: QuietContext) async throws(QuietRefusal) {
    try Self.allow(await byAddress.spend(keys.key(for: context)))
  }

  /// Rejects an address without attempts left, and counts nothing.
  ///
  /// For credentials that are too long to guess only failures are counted, after the check, so that many
  /// valid requests may come at the same time.
  func check(_ context: QuietContext) async throws(QuietRefusal) {
    try Self.allow(await byAddress.secondsToWait(keys.key(for: context)))
  }

  /// Counts an attempt with a code, existing or not.
  func count(with hash: CodeHash) async throws(QuietRefusal) {
    try Self.allow(await byCode.spend(key(of: hash)))
  }

  /// Counts an attempt with the API key of an app, which all its users share.
  func count(under id: APIKeyID?) async throws(QuietRefusal) {
    try Self.allow(await byAPIKey.spend(key(of: id)))
  }

  /// Counts a code issued with an API key.
  func countIssue(under id: APIKeyID?) async throws(QuietRefusal) {
    try Self.allow(await issues.spend(key(of: id)))
  }

  /// Removes the latest attempt of the address, which was valid.
  func refund(_ context: QuietContext) async {
    await byAddress.giveBack(keys.key(for: context))
  }

  /// Removes the latest attempt with a code, which failed because of the server.
  func refund(_ hash: CodeHash) async {
    await byCode.giveBack(key(of: hash))
  }

  /// Removes the latest attempt with an API key, which was valid.
  func refund(under id: APIKeyID?) async {
    await byAPIKey.giveBack(key(of: id))
  }

  /// Removes the latest issued code, which was not stored or not sent.
  func refundIssue(under id: APIKeyID?) async {
    await issues.giveBack(key(of: id))
  }

  /// Counts an attempt with `hash` and does `work`. If the storage fails, removes what was counted for
  /// the request.
  func withRefund<Value: Sendable>(
    with hash: CodeHash? = nil, under id: APIKeyID? = nil, from context: QuietContext,
    _ work: () async throws -> Value
  ) async throws(QuietRefusal) -> Value {
    if let hash { try await count(with: hash) }
    do throws(QuietRefusal) {
      return try await QuietRefusal.mappingStorageErrors(context.logger, work)
    } catch {
      await refund(context)
      if let id { await refund(under: id) }
      if let hash { await refund(hash) }
      throw error
    }
  }

  private func key(of hash: CodeHash) -> BudgetKey {
    keys.key(for: hash.bytes.base64EncodedString())
  }

  private func key(of id: APIKeyID?) -> BudgetKey { keys.key(for: "api key \(id?.text ?? "")") }

  private static func allow(_ waitSeconds: Int?) throws(QuietRefusal) {
    if let waitSeconds { throw .tooManyAttempts(retryAfterSeconds: waitSeconds) }
  }
}

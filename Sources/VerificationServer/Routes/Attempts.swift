import Foundation
import QuietHTTP
import World

/// The attempts that are counted, by address and by code.
struct Attempts: Sendable {
  private let keys: BudgetKeys
  private let byAddress: AttemptBudget
  private let byCode: AttemptBudget

  init(_ limits: AttemptLimits, clock: any WallClock, randomness: any Randomness) {
    keys = BudgetKeys(from: randomness)
    byAddress = AttemptBudget(
      attempts: limits.perAddress, windowSeconds: limits.windowSeconds, clock: clock)
    byCode = AttemptBudget(
      attempts: limits.perCode, windowSeconds: limits.windowSeconds, clock: clock)
  }

  /// Counts an attempt from the peer's address before anything is looked up.
  func count(from context: QuietContext) async throws(QuietRefusal) {
    try Self.allow(await byAddress.spend(keys.key(for: context)))
  }

  /// Counts an attempt with a code, be there such a code or not.
  func count(with hash: CodeHash) async throws(QuietRefusal) {
    try Self.allow(await byCode.spend(keys.key(for: hash.bytes.base64EncodedString())))
  }

  /// Takes the address's latest attempt back: it was an honest one.
  func forgive(_ context: QuietContext) async {
    await byAddress.giveBack(keys.key(for: context))
  }

  /// Takes the latest attempt with a code back: it failed through no fault of who asked.
  func forgive(_ hash: CodeHash) async {
    await byCode.giveBack(keys.key(for: hash.bytes.base64EncodedString()))
  }

  private static func allow(_ waitSeconds: Int?) throws(QuietRefusal) {
    if let waitSeconds { throw .tooManyAttempts(retryAfterSeconds: waitSeconds) }
  }
}

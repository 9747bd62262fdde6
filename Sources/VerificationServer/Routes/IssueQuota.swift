import Foundation
import QuietHTTP
import World

/// The quota of codes that an API key may issue in a day. All users of an app share its key.
struct IssueQuota: Sendable {
  private let keys: BudgetKeys
  private let issues: AttemptBudget

  init(_ limits: AttemptLimits, clock: any WallClock, randomness: any Randomness) {
    keys = BudgetKeys(from: randomness)
    issues = AttemptBudget(
      attempts: limits.issuesPerApiKey, windowSeconds: AttemptLimits.issueWindowSeconds,
      clock: clock)
  }

  /// Counts a code issued with an API key.
  ///
  /// - Throws: `.tooManyAttempts` if the key has issued too many.
  func count(under id: APIKeyID?) async throws(QuietRefusal) {
    if let seconds = await issues.spend(key(of: id)) {
      throw .tooManyAttempts(retryAfterSeconds: seconds)
    }
  }

  /// Removes the latest issued code, which was not stored or not sent.
  func refund(under id: APIKeyID?) async {
    await issues.giveBack(key(of: id))
  }

  private func key(of id: APIKeyID?) -> BudgetKey { keys.key(for: "api key \(id?.text ?? "")") }
}

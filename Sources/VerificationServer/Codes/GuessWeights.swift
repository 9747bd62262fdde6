// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import VerificationAPI
import World

/// The weights of wrong codes in the budget of guesses: the more codes of the same length are live, the more a guess
/// weighs. So the expected number of guesses that hit a live code is limited, and not the number of guesses.
final class GuessWeights: Sendable {
  private let storage: any CodeStorage
  private let risk: GuessingRisk
  private let rules: RulesInForce
  private let clock: any WallClock
  private let counts = Mutex<[CodeForm: Count]>([:])

  private struct Count {
    let live: Int
    /// The longest lifetime of these codes, in seconds.
    let lifetime: TimeInterval
    let at: Date
  }

  init(
    storage: any CodeStorage, risk: GuessingRisk, rules: RulesInForce, clock: any WallClock
  ) {
    self.storage = storage
    self.risk = risk
    self.rules = rules
    self.clock = clock
  }

  /// The weight of an attempt with `code`; 0 for a text that is no code, for a long code, which cannot be guessed, and
  /// if no code of this length is live.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable`.
  func weight(of code: (any EnteredCode)?) async throws -> Double {
    guard let code, let form = CodeForm(code) else { return 0 }
    let lifetime = form.kind == .pin ? rules.pinLifetime : rules.policy.shortCodeLifetime
    let count = try await count(form, lifetime)
    // Codes from before a change of the rules may be valid for longer.
    let one = risk.weight(
      of: form, live: count.live, lifetime: max(lifetime, count.lifetime))
    // Each reading of an ambiguous code is a guess.
    return one * Double(code.typedReadings.count)
  }

  private func count(_ form: CodeForm, _ lifetime: TimeInterval) async throws -> Count {
    let now = clock.now
    let known = counts.withLock { $0[form] }
    if let known,
      (0..<VerificationLimit.liveCountAgeSecondsMax).contains(now.timeIntervalSince(known.at))
    {
      return known
    }
    let most = risk.liveCodesMax(of: form, lifetime: lifetime)
    let count = Count(
      live: try await storage.liveCount(of: form, at: now, atMost: max(1, most)),
      lifetime: try await storage.longestLifetime(of: form, at: now), at: now)
    // Without live codes a guess weighs nothing, so the first new code has to be seen at once.
    counts.withLock { $0[form] = count.live > 0 ? count : nil }
    return count
  }
}

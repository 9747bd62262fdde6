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
    let one = risk.weight(of: form, live: try await live(form, lifetime), lifetime: lifetime)
    // Each reading of an ambiguous code is a guess.
    return one * Double(code.typedReadings.count)
  }

  private func live(_ form: CodeForm, _ lifetime: TimeInterval) async throws -> Int {
    let now = clock.now
    let known = counts.withLock { $0[form] }
    if let known,
      (0..<VerificationLimit.liveCountAgeSecondsMax).contains(now.timeIntervalSince(known.at))
    {
      return known.live
    }
    let most = risk.liveCodesMax(of: form, lifetime: lifetime)
    let live = try await storage.liveCount(of: form, at: now, atMost: max(1, most))
    // Without live codes a guess weighs nothing, so the first new code has to be seen at once.
    counts.withLock { $0[form] = live > 0 ? Count(live: live, at: now) : nil }
    return live
  }
}

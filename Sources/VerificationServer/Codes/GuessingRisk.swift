// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The rule for the length of new codes: the more codes are live, the longer a new code is.
///
/// The total number of failures is limited, which bounds an attacker's guesses in the lifetime of a code.
/// The expected number of guesses that hit one of the live codes of a form stays below
/// `VerificationLimit.guessedCodesMax`. See Documentation/Decisions/0029-failures-have-budgets.md.
struct GuessingRisk: Sendable {
  /// The maximum number of guesses in a window.
  let guessesMax: Int
  let windowSeconds: Int

  init(_ limits: AttemptLimits) {
    guessesMax = limits.total
    windowSeconds = limits.windowSeconds
  }

  /// The number of codes of `form` that may be live at once if each is valid for `lifetime` seconds.
  ///
  /// - Parameter caution: The multiple of the guesses to expect.
  func liveCodesMax(of form: CodeForm, lifetime: TimeInterval, caution: Double = 1) -> Int {
    let count = VerificationLimit.guessedCodesMax * form.codeCount / guesses(in: lifetime)
    return Int(min(count / caution, Self.countMax))
  }

  /// The share of a window's guesses that one guess of `form` uses up: 1 if as many codes are live as may be.
  func weight(of form: CodeForm, live: Int, lifetime: TimeInterval) -> Double {
    Double(live) / form.codeCount * guesses(in: lifetime) / VerificationLimit.guessedCodesMax
  }

  /// The multiple of the guesses to expect for a new code if this share of a window's guesses is used up.
  static func caution(under pressure: Double) -> Double {
    switch pressure {
    case ..<0.25: 1
    case ..<0.75: 10
    default: 100
    }
  }

  private func guesses(in lifetime: TimeInterval) -> Double {
    // A code is valid through its last second, so its lifetime can overlap one more window.
    let windows = (lifetime / Double(windowSeconds)).rounded(.down) + 1
    return Double(guessesMax) * windows
  }

  /// An upper bound that fits into an `Int` and exceeds any number of codes.
  private static let countMax = 1e15
}

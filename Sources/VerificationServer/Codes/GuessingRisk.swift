import Foundation
import Logging
import QuietHTTP
import VerificationAPI

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
  func liveCodesMax(of form: CodeForm, lifetime: TimeInterval) -> Int {
    // A code is valid through its last second, so its lifetime can overlap one more window.
    let windows = (lifetime / Double(windowSeconds)).rounded(.down) + 1
    let guesses = Double(guessesMax) * windows
    return Int(min(VerificationLimit.guessedCodesMax * form.codeCount / guesses, Self.countMax))
  }

  /// An upper bound that fits into an `Int` and exceeds any number of codes.
  private static let countMax = 1e15
}

/// The form and the length of a code that users type.
struct CodeForm: Hashable, Sendable {
  let kind: Kind
  let characterCount: Int

  enum Kind: String, Sendable {
    case pin, short
  }

  init(_ kind: Kind, _ characterCount: Int) {
    self.kind = kind
    self.characterCount = characterCount
  }

  /// The form as it is stored, such as `pin6`.
  var text: String { "\(kind.rawValue)\(characterCount)" }

  /// The number of different codes of this form.
  var codeCount: Double {
    func texts(of characters: Int) -> Double { pow(Double(characters), Double(characterCount)) }
    return switch kind {
    // Without those that lack a digit or a letter.
    case .pin: texts(of: 36) - texts(of: 26) - texts(of: 10)
    case .short: texts(of: 10)
    }
  }
}

/// Logs an error for the operator when codes are being guessed.
struct GuessingAlarm: Sendable {
  let logger: Logger
  let limits: AttemptLimits

  func report(_ alarm: FailureAlarm) {
    let count = alarm == .stopped ? limits.total : limits.total / 2
    let effect =
      switch alarm {
      case .slowed:
        "the failure limits of addresses are a tenth of the usual ones until fewer codes are guessed"
      case .stopped: "all codes are refused until there are fewer"
      }
    logger.error(
      "codes are being guessed: \(count) wrong codes in \(limits.windowSeconds) seconds; \(effect)")
  }
}

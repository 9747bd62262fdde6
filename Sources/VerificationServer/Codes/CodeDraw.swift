import VerificationAPI
import World

extension VerificationCode {
  /// A code drawn from `randomness`, each equally likely.
  ///
  /// Documentation/SeedContract.md 2.1. Of all draws of six characters 86 in 100 are codes; the rest
  /// lack a digit or a letter and are drawn again.
  static func drawn(from randomness: any Randomness) -> VerificationCode {
    while true {
      let characters = (0..<characterCount).map { _ in
        alphabet[randomness.number(in: 0...alphabet.count - 1)]
      }
      if let code = VerificationCode(String(characters)) { return code }
    }
  }
}

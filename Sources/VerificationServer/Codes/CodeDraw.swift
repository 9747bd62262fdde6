import VerificationAPI
import World

extension VerificationCode {
  /// A code drawn from `randomness`, each equally likely.
  ///
  /// Documentation/SeedContract.md 2.1. Of all draws of six characters 86 in 100 are codes; the rest
  /// lack a digit or a letter and are drawn again.
  static func drawn(from randomness: any Randomness) -> VerificationCode {
    while true {
      let text = randomness.text(of: alphabet, characterCount)
      if let code = VerificationCode(text) { return code }
    }
  }
}

extension ShortCode {
  /// A code of `digits` digits, each equally likely; nil where there is no such length.
  static func drawn(digits: Int, from randomness: any Randomness) -> ShortCode? {
    ShortCode(randomness.text(of: Array("0123456789"), digits))
  }
}

extension LongCode {
  /// A code of `count` characters, each equally likely; nil where there is no such length.
  static func drawn(count: Int, from randomness: any Randomness) -> LongCode? {
    LongCode(randomness.text(of: alphabet, count))
  }
}

extension Randomness {
  fileprivate func text(of alphabet: [Character], _ count: Int) -> String {
    String((0..<count).map { _ in alphabet[number(in: 0...alphabet.count - 1)] })
  }
}

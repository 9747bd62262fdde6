// SPDX-License-Identifier: Apache-2.0
import Foundation
import VerificationAPI

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

  /// The form of `code`; nil for a long code.
  init?(_ code: any EnteredCode) {
    switch code {
    case is VerificationCode: self.init(.pin, code.characters.count)
    case is ShortCode: self.init(.short, code.characters.count)
    default: return nil
    }
  }

  /// The form as it is stored, such as `pin6`.
  var text: String { "\(kind.rawValue)\(characterCount)" }

  private static let letterCount = VerificationCode.alphabet.count(where: \.isLetter)

  /// The number of different codes of this form.
  var codeCount: Double {
    func texts(of characters: Int) -> Double { pow(Double(characters), Double(characterCount)) }
    return switch kind {
    // Without those that lack a digit or a letter.
    case .pin:
      texts(of: VerificationCode.alphabet.count) - texts(of: Self.letterCount)
        - texts(of: VerificationCode.alphabet.count - Self.letterCount)
    case .short: texts(of: 10)
    }
  }
}

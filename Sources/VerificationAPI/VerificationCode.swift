// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The PIN of the ProteGO Safe contract: six to ten characters of `0-9A-Z`, at least one digit and one letter.
///
/// New PINs have six characters, and more only while so many PINs are valid that one of six could be guessed. They
/// have none of `0`, `O`, `1` and `I`, which are confused when a PIN is read aloud or copied by hand.
///
/// The health authority gives it to a user with a positive test, who types it into the app.
public struct VerificationCode: Hashable, Sendable, Redacted {
  /// The allowed lengths of a PIN.
  public static let characterCounts = 6...10
  /// The characters of new PINs. Others are accepted, because another server may have issued the PIN.
  public static let alphabet = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZ")
  /// The longest typed text that is parsed, in bytes with spaces.
  public static let typedCharactersMax = 64

  /// The characters, in upper case.
  public let characters: String

  /// Parses `text`; ignores spaces, hyphens and case. Returns nil if the text is not a PIN.
  public init?(_ text: String) {
    // Only a phone, which uses `characters(typed:)`, reads Cyrillic letters.
    guard !text.unicodeScalars.contains(where: { (0x400...0x4FF).contains($0.value) }),
      let characters = Self.characters(typed: text.utf8)
    else { return nil }
    self.characters = String(decoding: characters, as: UTF8.self)
  }

  /// The PINs that a user may have been given who typed this one: the PIN itself, then those with `0` and `O`, `1` and
  /// `I` exchanged. New PINs have none of these characters.
  public var readings: [VerificationCode] {
    let confused = characters.indices.filter { Self.lookAlikes[characters[$0]] != nil }
      .prefix(Self.confusedCharactersMax)
    var texts = [Array(characters)]
    for index in confused {
      let place = characters.distance(from: characters.startIndex, to: index)
      texts += texts.map { text in
        var text = text
        text[place] = Self.lookAlikes[text[place]] ?? text[place]
        return text
      }
    }
    // A reading without a digit or a letter is no PIN.
    return texts.compactMap { VerificationCode(String($0)) }
  }

  private static let lookAlikes: [Character: Character] = ["0": "O", "O": "0", "1": "I", "I": "1"]
  /// With four, a typed PIN has at most 16 readings.
  private static let confusedCharactersMax = 4

  /// The characters of typed text in UTF-8, or nil if it is not a PIN. It makes no string, so that a phone
  /// can overwrite the PIN after use.
  public static func characters(typed: some Collection<UInt8>) -> [UInt8]? {
    guard typed.count <= typedCharactersMax else { return nil }
    var typed = TypedCode.plain(typed)
    for index in typed.indices { typed[index] = upperCase(typed[index]) }
    guard characterCounts.contains(typed.count), typed.allSatisfy(isDigitOrLetter),
      typed.contains(where: digits.contains), typed.contains(where: letters.contains)
    else { return nil }
    return typed
  }

  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  private static let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
  private static let smallLetters = UInt8(ascii: "a")...UInt8(ascii: "z")

  private static func upperCase(_ byte: UInt8) -> UInt8 {
    smallLetters.contains(byte) ? byte - 0x20 : byte
  }

  private static func isDigitOrLetter(_ byte: UInt8) -> Bool {
    digits.contains(byte) || letters.contains(byte)
  }
}

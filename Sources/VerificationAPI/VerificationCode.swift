// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The PIN of the ProteGO Safe contract: six to ten characters of `0-9A-Z`, at least one digit and one letter.
///
/// New PINs have six characters, and more only while so many PINs are valid that one of six could be guessed.
///
/// The health authority gives it to a user with a positive test, who types it into the app.
public struct VerificationCode: Hashable, Sendable, Redacted {
  /// The allowed lengths of a PIN.
  public static let characterCounts = 6...10
  /// The characters of a PIN.
  public static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
  /// The longest typed text that is parsed, in bytes with spaces.
  public static let typedCharactersMax = 64

  /// The characters, in upper case.
  public let characters: String

  /// Parses `text`; ignores spaces and case. Returns nil if the text is not a PIN.
  public init?(_ text: String) {
    guard let characters = Self.characters(typed: text.utf8) else { return nil }
    self.characters = String(decoding: characters, as: UTF8.self)
  }

  /// The characters of typed text in UTF-8, or nil if it is not a PIN. It makes no string, so that a phone
  /// can overwrite the PIN after use.
  public static func characters(typed: some Collection<UInt8>) -> [UInt8]? {
    guard typed.count <= typedCharactersMax else { return nil }
    var typed = typed.filter { !spaces.contains($0) }
    for index in typed.indices { typed[index] = upperCase(typed[index]) }
    guard characterCounts.contains(typed.count), typed.allSatisfy(isDigitOrLetter),
      typed.contains(where: digits.contains), typed.contains(where: letters.contains)
    else { return nil }
    return typed
  }

  private static let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
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

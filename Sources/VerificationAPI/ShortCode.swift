// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The code of Google's contract that the user types: decimal digits, eight by default.
public struct ShortCode: Hashable, Sendable, Redacted {
  /// The allowed numbers of digits. A text of twelve is a long code.
  public static let digitCounts = 6...11

  /// The digits.
  public let characters: String

  /// Parses `text`; ignores spaces and hyphens, and reads `O` as `0` and `I` as `1`. Returns nil if the text is not a
  /// short code.
  public init?(_ text: String) {
    guard let characters = Self.characters(typed: text.utf8) else { return nil }
    self.characters = String(decoding: characters, as: UTF8.self)
  }

  /// The digits of typed text in UTF-8, or nil if it is not a short code. It makes no string, so that a phone can
  /// overwrite the code after use.
  public static func characters(typed: some Collection<UInt8>) -> [UInt8]? {
    guard typed.count <= VerificationCode.typedCharactersMax else { return nil }
    var typed = TypedCode.plain(typed)
    for index in typed.indices { typed[index] = lookAlikes[typed[index]] ?? typed[index] }
    guard digitCounts.contains(typed.count), typed.allSatisfy(digits.contains) else { return nil }
    return typed
  }

  private static let lookAlikes: [UInt8: UInt8] = [
    UInt8(ascii: "O"): UInt8(ascii: "0"), UInt8(ascii: "o"): UInt8(ascii: "0"),
    UInt8(ascii: "I"): UInt8(ascii: "1"), UInt8(ascii: "i"): UInt8(ascii: "1"),
  ]
  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}

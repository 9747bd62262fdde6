// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The code of Google's contract inside the link of an SMS.
public struct LongCode: Hashable, Sendable, Redacted {
  /// The allowed lengths.
  public static let characterCounts = 12...16
  /// The characters of a long code.
  public static let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")

  /// The characters, in lower case.
  public let characters: String

  /// Parses `text`; ignores spaces. Returns nil if the text is not a long code.
  public init?(_ text: String) {
    guard text.utf8.count <= VerificationCode.typedCharactersMax else { return nil }
    let typed = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    guard Self.characterCounts.contains(typed.count), typed.allSatisfy(Self.isOurs) else {
      return nil
    }
    characters = String(decoding: typed, as: UTF8.self)
  }

  private static func isOurs(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
}

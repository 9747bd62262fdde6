// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The code of Google's contract that the user types: decimal digits, eight by default.
public struct ShortCode: Hashable, Sendable, Redacted {
  /// The allowed numbers of digits. A text of twelve is a long code.
  public static let digitCounts = 6...11

  /// The digits.
  public let characters: String

  /// Parses `text`; ignores spaces and hyphens. Returns nil if the text is not a short code.
  public init?(_ text: String) {
    guard text.utf8.count <= VerificationCode.typedCharactersMax else { return nil }
    let typed = text.utf8.filter { !Self.ignored.contains($0) }
    guard Self.digitCounts.contains(typed.count), typed.allSatisfy(Self.digits.contains) else {
      return nil
    }
    characters = String(decoding: typed, as: UTF8.self)
  }

  private static let ignored: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0x2D]
  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}

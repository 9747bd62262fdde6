/// The code that a person is told and types, in Google's contract: decimal digits, eight of them unless
/// the server says otherwise.
///
/// Documentation/VerificationServer.md 1.
public struct ShortCode: Hashable, Sendable {
  /// How many digits there may be.
  public static let digitCounts = 6...10

  /// The digits.
  public let characters: String

  /// The code in `text`, where it is one. Blanks and hyphens do not count: people write them in.
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

extension ShortCode: CustomStringConvertible, CustomReflectable {
  /// Whoever reads a code can use it.
  public var description: String { "ShortCode" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

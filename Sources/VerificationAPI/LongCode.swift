/// The code inside the link of an SMS, in Google's contract: nobody has to type it.
///
/// Documentation/VerificationServer.md 1.
public struct LongCode: Hashable, Sendable {
  /// How many characters there may be.
  public static let characterCounts = 12...16
  /// What it is made of.
  public static let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")

  /// The characters, in lower case.
  public let characters: String

  /// The code in `text`, where it is one. Blanks around it do not count.
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

extension LongCode: CustomStringConvertible, CustomReflectable {
  /// Whoever reads a code can use it.
  public var description: String { "LongCode" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The PIN that a person with a positive test is told, and types into the app once.
///
/// Documentation/SeedContract.md 2.1: six characters of `0-9A-Z`, at least one digit and one letter.
public struct VerificationCode: Hashable, Sendable {
  /// How many characters it has.
  public static let characterCount = 6
  /// What it is made of.
  public static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
  /// How long a typed text may be before it is no longer looked at, in characters with spaces.
  public static let typedCharactersMax = 64

  /// The six characters, in upper case.
  public let characters: String

  /// The code in `text`, where it is one. Spaces, also inside, do not count; lower case is as good.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.typedCharactersMax else { return nil }
    let typed = text.utf8.filter { !Self.spaces.contains($0) }.map(Self.upperCase)
    guard typed.count == Self.characterCount, typed.allSatisfy(Self.isDigitOrLetter),
      typed.contains(where: Self.digits.contains), typed.contains(where: Self.letters.contains)
    else { return nil }
    characters = String(decoding: typed, as: UTF8.self)
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

extension VerificationCode: CustomStringConvertible, CustomReflectable {
  /// Whoever reads a code can use it.
  public var description: String { "VerificationCode" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

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

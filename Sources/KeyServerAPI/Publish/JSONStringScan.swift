/// Passes over what stands between the quotation marks of a JSON string (RFC 8259, section 7), and keeps
/// nothing of it.
///
/// Half of an upload may be padding that nobody reads, and it is held to the same rule as what is read. So eight
/// bytes are looked at together while they are plain ASCII.
struct JSONStringScan {
  private let bytes: UnsafeBufferPointer<UInt8>

  /// The next byte to be looked at.
  private(set) var position: Int
  /// Whether an escape was passed.
  private(set) var hasEscapes = false

  /// Stands at `position` in `bytes`, which must outlive it.
  init(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) {
    self.bytes = bytes
    self.position = position
  }

  /// Goes to the quotation mark that ends the string; false where what comes before it is no text, or
  /// there is none.
  mutating func reachesEnd() -> Bool {
    while true {
      skipPlain()
      guard position < bytes.count else { return false }
      switch bytes[position] {
      case UInt8(ascii: "\""): return true
      case UInt8(ascii: "\\"): guard escaped() != nil else { return false }
      case 0..<0x20: return false
      case 0x20..<0x80: position += 1
      default: guard skipCharacter() else { return false }
      }
    }
  }

  /// Passes one escape, or two that are a surrogate pair, and says which character it is.
  mutating func escaped() -> Unicode.Scalar? {
    guard bytes.count - position >= 2 else { return nil }
    hasEscapes = true
    let letter = bytes[position + 1]
    guard letter != UInt8(ascii: "u") else { return character() }
    guard let byte = Self.byte(escapedAs: letter) else { return nil }
    position += 2
    return Unicode.Scalar(byte)
  }
}

extension JSONStringScan {
  private static let each: UInt64 = 0x0101_0101_0101_0101

  /// Goes to the first byte that is more than itself, or among the last seven of all.
  private mutating func skipPlain() {
    while bytes.count - position >= 8 {
      let raw = UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped + position)
      let eight = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self))
      // In the highest bit of each byte; only behind a byte that is found may one be found wrongly.
      let quotes = Self.zeros(in: eight ^ Self.each &* 0x22)
      let backslashes = Self.zeros(in: eight ^ Self.each &* 0x5C)
      let controls = (eight &- Self.each &* 0x20) & ~eight
      let found = (quotes | backslashes | controls | eight) & (Self.each &* 0x80)
      guard found == 0 else {
        position += found.trailingZeroBitCount / 8
        return
      }
      position += 8
    }
  }

  private static func zeros(in eight: UInt64) -> UInt64 { (eight &- each) & ~eight }

  /// Passes one character that is not ASCII: none that is longer than it must be, no half of a surrogate pair,
  /// nothing beyond U+10FFFF (RFC 3629, section 4).
  private mutating func skipCharacter() -> Bool {
    let (count, second): (Int, ClosedRange<UInt8>)
    switch bytes[position] {
    case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (count, second) = (3, 0x80...0xBF)
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    default: return false
    }
    guard bytes.count - position >= count, second.contains(bytes[position + 1]),
      bytes[(position + 2)..<(position + count)].allSatisfy({ (0x80...0xBF).contains($0) })
    else { return false }
    position += count
    return true
  }

  private static func byte(escapedAs letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// The character of one `\uXXXX`, or of two that are a surrogate pair.
  private mutating func character() -> Unicode.Scalar? {
    guard let first = codeUnit() else { return nil }
    guard first & 0xF800 == 0xD800 else { return Unicode.Scalar(first) }
    guard first < 0xDC00, let second = codeUnit(), second & 0xFC00 == 0xDC00 else { return nil }
    return Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
  }

  private mutating func codeUnit() -> UInt32? {
    guard bytes.count - position >= 6, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    else { return nil }
    var value: UInt32 = 0
    for byte in bytes[(position + 2)..<(position + 6)] {
      guard let digit = Self.hexDigit(byte) else { return nil }
      value = value << 4 | digit
    }
    position += 6
    return value
  }

  private static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte & 0x0F)
    case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"):
      UInt32(byte & 0x0F) + 9
    default: nil
    }
  }
}

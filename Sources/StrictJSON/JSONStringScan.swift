// SPDX-License-Identifier: Apache-2.0
/// Validates the content of a JSON string (RFC 8259, section 7) without copying it.
///
/// Up to half of an upload is padding, which is validated like every other string. Plain ASCII is
/// therefore scanned eight bytes at a time.
struct JSONStringScan {
  private let bytes: UnsafeBufferPointer<UInt8>

  private(set) var position: Int
  private(set) var escapes = 0

  /// A scan of `bytes`, which must outlive it, from `position` on.
  init(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) {
    self.bytes = bytes
    self.position = position
  }

  /// Moves to the closing quotation mark. Returns `false` if the string is unterminated or invalid.
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

  /// Consumes one escape, or a surrogate pair of two, and returns its character.
  mutating func escaped() -> Unicode.Scalar? {
    guard bytes.count - position >= 2 else { return nil }
    escapes += 1
    let letter = bytes[position + 1]
    guard letter != UInt8(ascii: "u") else { return character() }
    guard let byte = Self.byte(escapedAs: letter) else { return nil }
    position += 2
    return Unicode.Scalar(byte)
  }
}

extension JSONStringScan {
  private static let each: UInt64 = 0x0101_0101_0101_0101

  /// Skips plain ASCII in words of eight bytes. Stops at a byte that may be special, or within the last seven bytes.
  private mutating func skipPlain() {
    while bytes.count - position >= 8 {
      let raw = UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped + position)
      let eight = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self))
      // The high bit of each byte marks a match. Borrows can cause false matches, but only after a true one.
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

  /// Consumes one character outside ASCII. Rejects overlong forms, surrogates and anything beyond U+10FFFF
  /// (RFC 3629, section 4).
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

  /// Consumes `\uXXXX`, or two of them that form a surrogate pair.
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

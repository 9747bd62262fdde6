/// Goes through JSON that has no blanks, no escapes, nothing but printable ASCII and no numbers but a few digits.
///
/// Where it does not take what comes next, that may still be JSON: another reader has to say.
struct PlainCursor {
  /// The most digits of a number: any of so many fits in 64 bits.
  static let digitsMax = 18

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  /// Stands before the first of `bytes`, which must outlive it.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  /// Whether all has been taken.
  var isAtEnd: Bool { position == bytes.count }

  /// Takes `character` where it comes next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard !isAtEnd, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Takes a string.
  mutating func text() -> String? {
    guard take("\"") else { return nil }
    let start = position
    while !isAtEnd, Self.isPlain(bytes[position]) { position += 1 }
    let content = UnsafeBufferPointer(rebasing: bytes[start..<position])
    return take("\"") ? String(decoding: content, as: UTF8.self) : nil
  }

  /// Takes a number.
  mutating func number() -> Int64? {
    let start = position
    var value: Int64 = 0
    while !isAtEnd, (0x30...0x39).contains(bytes[position]), position - start < Self.digitsMax {
      value = value * 10 + Int64(bytes[position] - 0x30)
      position += 1
    }
    guard position > start, position == start + 1 || bytes[start] != 0x30 else { return nil }
    return value
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}

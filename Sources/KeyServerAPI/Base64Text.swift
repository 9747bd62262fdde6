/// Base64 as senders of `/v1/publish` write it: either alphabet of RFC 4648, padded or not.
public enum Base64Text {
  /// The bytes of `text`; nil where it is neither.
  public static func bytes(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { bytes(of: $0) }
  }

  private static func bytes(of text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var count = text.count
    while count > 0, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
    let padding = text.count - count
    // Padding fills up to a whole group of four or is left out.
    guard padding == 0 || (padding <= 2 && text.count % 4 == 0), count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 3 / 4)
    var (bits, held): (UInt32, Int) = (0, 0)
    for index in 0..<count {
      let value = values[Int(text[index])]
      guard value < 64 else { return nil }
      bits = bits << 6 | UInt32(value)
      held += 6
      guard held >= 8 else { continue }
      held -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
    }
    // Spare bits must be zero, or several texts would say the same.
    guard bits & (1 << UInt32(held) - 1) == 0 else { return nil }
    return bytes
  }

  /// The value of each byte of a text; 255 where it is no digit.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    for (value, digit) in digits.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
    for (value, digits) in [(UInt8(62), "+-"), (63, "/_")] {
      for digit in digits.utf8 { values[Int(digit)] = value }
    }
    return values
  }()
}

/// Reads the digits of base64 (RFC 4648) strictly: no two texts say the same bytes.
package enum Base64Digits: Sendable {
  /// Only the alphabet of URLs (section 5): `-` and `_`.
  case ofURLs
  /// Both alphabets, even in one text, as writers of keys and HMACs differ.
  case ofEither

  /// The bytes of `digits`, which stand without padding.
  ///
  /// - Returns: Nil where there is something else than digits, a number of them that no bytes have, or a
  ///   bit set that stands for nothing.
  package func bytes(_ digits: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var isRead = false
    let bytes = [UInt8](unsafeUninitializedCapacity: digits.count * 3 / 4) { bytes, count in
      isRead = read(digits, into: UnsafeMutableRawBufferPointer(bytes))
      count = isRead ? digits.count * 3 / 4 : 0
    }
    return isRead ? bytes : nil
  }

  /// Writes the bytes of `digits` into `bytes`, where there is room for just as many.
  ///
  /// - Returns: Whether they are bytes; see `bytes(_:)`.
  package func read(
    _ digits: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard digits.count % 4 != 1, bytes.count == digits.count * 3 / 4 else { return false }
    return values.withUnsafeBufferPointer { values in
      var (bits, held, place): (UInt32, UInt32, Int) = (0, 0, 0)
      for digit in digits {
        let value = values[Int(digit)]
        guard value < 64 else { return false }
        bits = bits << 6 | UInt32(value)
        held += 6
        guard held >= 8 else { continue }
        held -= 8
        bytes[place] = UInt8(truncatingIfNeeded: bits >> held)
        place += 1
      }
      return bits & (1 << held - 1) == 0
    }
  }

  /// The value of each byte of a text; 255 where it is no digit.
  private var values: [UInt8] {
    switch self {
    case .ofURLs: Self.valuesOfURLs
    case .ofEither: Self.valuesOfEither
    }
  }

  private static let valuesOfURLs = values(of62: "-", of63: "_")
  private static let valuesOfEither = values(of62: "+-", of63: "/_")

  /// The values where the last two digits may be written so.
  private static func values(of62: String, of63: String) -> [UInt8] {
    var values = [UInt8](repeating: 255, count: 256)
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    for (value, digit) in digits.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
    for digit in of62.utf8 { values[Int(digit)] = 62 }
    for digit in of63.utf8 { values[Int(digit)] = 63 }
    return values
  }
}

extension Sequence<UInt8> {
  /// The bytes as the command line writes them.
  var lowerCaseHex: String {
    flatMap { byte in [byte >> 4, byte & 0xf] }.map { String($0, radix: 16) }.joined()
  }
}

extension [UInt8] {
  /// The bytes that `text` writes, in capital letters or not; nil where it is no whole bytes.
  init?(hexadecimal text: String) {
    let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    self = bytes
  }
}

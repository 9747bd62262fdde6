/// One line of a log, split into words: `NAME=VALUE` or a bare value, separated by tabs or spaces.
struct LogRow {
  /// The trimmed line.
  let text: String
  private let words: [Substring]

  init(_ line: some Sequence<UInt8>) {
    let bytes = line.drop { Self.isSpace($0) }
    let text = String(decoding: Array(bytes), as: UTF8.self)
    let end = text.utf8.lastIndex { !Self.isSpace($0) }.map(text.utf8.index(after:))
    self.text = String(text[..<(end ?? text.startIndex)])
    words = self.text.utf8.split { Self.isSpace($0) }.map { Substring($0) }
  }

  var isEmpty: Bool { words.isEmpty }
  var first: Substring? { words.first }

  /// The value of the word `name=value`.
  subscript(name: String) -> Substring? {
    words.first {
      $0.utf8.starts(with: name.utf8) && $0.utf8.dropFirst(name.utf8.count).first == 0x3d
    }?
    .dropFirst(name.count + 1)
  }

  /// The comma-separated list between the first `[` and the following `]`.
  var list: [Substring]? {
    guard let open = text.utf8.firstIndex(of: UInt8(ascii: "[")),
      let close = text.utf8[open...].firstIndex(of: UInt8(ascii: "]"))
    else { return nil }
    return text.utf8[text.utf8.index(after: open)..<close].split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false
    ).map { Substring($0.drop { Self.isSpace($0) }) }
  }

  /// The bytes of hexadecimal digits; nil for any other text.
  static func bytes(_ text: Substring) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}

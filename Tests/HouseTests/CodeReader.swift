/// Blanks out comments and the content of strings, so that rules see code only.
struct CodeReader {
  private let source: [UInt8]
  private var output: [UInt8] = []
  private var place = 0

  static func code(of text: String) -> String {
    var reader = CodeReader(source: Array(text.utf8))
    while reader.place < reader.source.count { reader.readCode(untilParenthesis: false) }
    return String(decoding: reader.output, as: UTF8.self)
  }

  private init(source: [UInt8]) {
    self.source = source
  }

  private mutating func readCode(untilParenthesis: Bool) {
    var depth = 0
    while place < source.count {
      if starts(with: "//") {
        while place < source.count, source[place] != UInt8(ascii: "\n") { blank() }
      } else if starts(with: "/*") {
        while place < source.count, !starts(with: "*/") { blank() }
        for _ in 0..<2 where place < source.count { blank() }
      } else if let hashes = hashesOfString() {
        readString(hashes: hashes)
      } else {
        if starts(with: "(") { depth += 1 }
        if starts(with: ")") {
          depth -= 1
          if untilParenthesis && depth < 0 { return }
        }
        keep()
      }
    }
  }

  private mutating func readString(hashes: Int) {
    for _ in 0..<hashes { keep() }
    let quotes = starts(with: "\"\"\"") ? "\"\"\"" : "\""
    let tail = String(repeating: "#", count: hashes)
    for _ in quotes.utf8 { keep() }
    while place < source.count, !starts(with: quotes + tail) {
      if starts(with: "\\" + tail + "(") {
        for _ in 0..<(2 + hashes) { keep() }
        readCode(untilParenthesis: true)
      } else if starts(with: "\\" + tail) {
        for _ in 0..<(2 + hashes) where place < source.count { blank() }
      } else {
        blank()
      }
    }
    for _ in (quotes + tail).utf8 where place < source.count { keep() }
  }

  /// How many `#` stand before the string that begins here; nil where none does.
  private func hashesOfString() -> Int? {
    var end = place
    while end < source.count, source[end] == UInt8(ascii: "#") { end += 1 }
    return end < source.count && source[end] == UInt8(ascii: "\"") ? end - place : nil
  }

  private func starts(with text: String) -> Bool {
    source[place...].starts(with: text.utf8)
  }

  private mutating func keep() {
    output.append(source[place])
    place += 1
  }

  private mutating func blank() {
    let byte = source[place]
    output.append(byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
    place += 1
  }
}

/// Reads JSON (RFC 8259) from its first byte to its last, once, and only what it is asked for.
///
/// A general decoder makes a tree of the whole body before anybody looks at it, and takes unknown
/// fields without a word. This one knows at each place which field or type may come, so that what is
/// not in the contract is refused at the byte where it begins; it never goes deeper than it is asked.
struct JSONCursor {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The members of an object, by their place in `names`, which are lower case. A name is taken in
  /// any case, as the contract's first server does; a member that is null counts as absent.
  mutating func object(
    _ names: [StaticString],
    _ member: (Int, inout JSONCursor) throws(StrictJSONError) -> Void
  ) throws(StrictJSONError) {
    guard take(UInt8(ascii: "{")) else { throw wrongTypeOrMalformed }
    var seen: UInt64 = 0
    guard !take(UInt8(ascii: "}")) else { return }
    repeat {
      let name = try fieldName()
      guard let index = names.firstIndex(where: { Self.isSame(name, $0) }) else {
        throw .unknownField
      }
      guard seen & 1 << UInt64(index) == 0 else { throw .repeatedField }
      seen |= 1 << UInt64(index)
      guard take(UInt8(ascii: ":")) else { throw .malformed }
      if !takeNull() { try member(index, &self) }
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw .malformed }
  }

  /// The elements of an array.
  mutating func array(
    _ element: (inout JSONCursor) throws(StrictJSONError) -> Void
  ) throws(StrictJSONError) {
    guard take(UInt8(ascii: "[")) else { throw wrongTypeOrMalformed }
    guard !take(UInt8(ascii: "]")) else { return }
    repeat { try element(&self) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw .malformed }
  }

  /// A string.
  mutating func string() throws(StrictJSONError) -> String {
    let content = try stringContent()
    guard content.hasEscapes else { return text(content.range) }
    return String(decoding: unescaped(content.range), as: UTF8.self)
  }

  /// A string that nobody reads, such as padding: looked over like one that is read, and not kept.
  mutating func skipString() throws(StrictJSONError) {
    _ = try stringContent()
  }

  /// A whole number within 64 bits, written without a fraction or an exponent.
  mutating func integer() throws(StrictJSONError) -> Int64 {
    skipBlanks()
    let isNegative = peek == UInt8(ascii: "-")
    let start = isNegative ? position + 1 : position
    var end = start
    var value: Int64 = 0
    while end < bytes.count, let digit = Self.digit(bytes[end]) {
      let (tens, tooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = tens.addingReportingOverflow(isNegative ? -digit : digit)
      guard !tooLarge, !overflow else { throw .wrongType }
      (value, end) = (sum, end + 1)
    }
    guard end > start else { throw wrongTypeOrMalformed }
    guard end == start + 1 || bytes[start] != UInt8(ascii: "0") else { throw .malformed }
    position = end
    switch peek {
    case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): throw .wrongType
    default: return value
    }
  }

  /// `true` or `false`.
  mutating func boolean() throws(StrictJSONError) -> Bool {
    if takeWord("true") { return true }
    if takeWord("false") { return false }
    throw wrongTypeOrMalformed
  }

  /// Refuses anything after the one value.
  mutating func end() throws(StrictJSONError) {
    skipBlanks()
    guard position == bytes.count else { throw .moreThanOneValue }
  }
}

extension JSONCursor {
  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  /// Takes `byte` where it is what comes next but for blanks.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func takeNull() -> Bool { takeWord("null") }

  private mutating func takeWord(_ word: StaticString) -> Bool {
    skipBlanks()
    let isNext = word.withUTF8Buffer { word in
      bytes.count - position >= word.count
        && word.indices.allSatisfy { bytes[position + $0] == word[$0] }
    }
    if isNext { position += word.utf8CodeUnitCount }
    return isNext
  }

  /// Where another type begins than was asked for, it is that; else it is no JSON at all.
  private var wrongTypeOrMalformed: StrictJSONError {
    var next = self
    next.skipBlanks()
    guard let byte = next.peek else { return .malformed }
    let begins = byte == UInt8(ascii: "-") || Self.digit(byte) != nil
    let isWord = ["true", "false", "null"].contains { next.takeWord($0) }
    return begins || isWord || [0x22, 0x7B, 0x5B].contains(byte) ? .wrongType : .malformed
  }

  private static func digit(_ byte: UInt8) -> Int64? {
    (0x30...0x39).contains(byte) ? Int64(byte - 0x30) : nil
  }

  private mutating func fieldName() throws(StrictJSONError) -> ArraySlice<UInt8> {
    skipBlanks()
    guard peek == UInt8(ascii: "\"") else { throw .malformed }
    let content = try stringContent()
    return content.hasEscapes ? unescaped(content.range)[...] : bytes[content.range]
  }

  private static func isSame(_ name: ArraySlice<UInt8>, _ known: StaticString) -> Bool {
    known.withUTF8Buffer { known in
      guard known.count == name.count else { return false }
      return known.indices.allSatisfy { index in
        let byte = name[name.startIndex + index]
        return byte == known[index] || ((0x41...0x5A).contains(byte) && byte | 0x20 == known[index])
      }
    }
  }
}

extension JSONCursor {
  /// Passes a string, each byte of which is looked at; the range is what stands between its quotation marks.
  private mutating func stringContent() throws(StrictJSONError) -> (
    range: Range<Int>, hasEscapes: Bool
  ) {
    guard take(UInt8(ascii: "\"")) else { throw wrongTypeOrMalformed }
    let start = position
    let (end, hasEscapes) = bytes.withUnsafeBufferPointer { bytes -> (Int?, Bool) in
      var scan = JSONStringScan(bytes, at: start)
      return (scan.reachesEnd() ? scan.position : nil, scan.hasEscapes)
    }
    guard let end else { throw .malformed }
    position = end + 1
    return (start..<end, hasEscapes)
  }

  /// The text of bytes that have been passed.
  private func text(_ range: Range<Int>) -> String {
    bytes.withUnsafeBufferPointer {
      String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self)
    }
  }

  /// The bytes that a string with escapes means, which has been passed.
  private func unescaped(_ range: Range<Int>) -> [UInt8] {
    bytes.withUnsafeBufferPointer { bytes in
      var text: [UInt8] = []
      text.reserveCapacity(range.count)
      var index = range.lowerBound
      while index < range.upperBound {
        var scan = JSONStringScan(bytes, at: index)
        if bytes[index] == UInt8(ascii: "\\"), let character = scan.escaped() {
          text += character.utf8
          index = scan.position
        } else {
          text.append(bytes[index])
          index += 1
        }
      }
      return text
    }
  }
}

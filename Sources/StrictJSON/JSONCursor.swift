// SPDX-License-Identifier: Apache-2.0
/// A pull parser for JSON (RFC 8259) that reads the bytes once, from the first to the last.
///
/// The caller states which fields and types it expects. Unlike `JSONDecoder`, the cursor builds no
/// tree, rejects unknown and repeated fields at the byte where they begin, and nests only as deep as
/// the caller reads.
package struct JSONCursor {
  private let bytes: [UInt8]
  private var position = 0
  private var valuesLeft: Int
  private var escapesLeft: Int

  package init(_ bytes: [UInt8], atMost limit: JSONLimit = .none) {
    self.bytes = bytes
    valuesLeft = limit.values
    escapesLeft = limit.escapes
  }

  /// Reads an object and calls `member` for each field with its index in `names`.
  ///
  /// A field with the value `null` counts as absent.
  ///
  /// - Parameter ignoringCase: If `true`, field names match in any ASCII case; `names` must then be in
  ///   lower case.
  package mutating func object(
    _ names: [StaticString], ignoringCase: Bool = false,
    _ member: (Int, inout JSONCursor) throws(StrictJSONError) -> Void
  ) throws(StrictJSONError) {
    guard take(UInt8(ascii: "{")) else { throw wrongTypeOrMalformed }
    var seen: UInt64 = 0
    guard !take(UInt8(ascii: "}")) else { return }
    repeat {
      try countValue()
      let name = try fieldName()
      guard let index = names.firstIndex(where: { Self.isSame(name, $0, ignoringCase) }) else {
        throw .unknownField
      }
      guard seen & 1 << UInt64(index) == 0 else { throw .repeatedField }
      seen |= 1 << UInt64(index)
      guard take(UInt8(ascii: ":")) else { throw .malformed }
      if !takeNull() { try member(index, &self) }
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw .malformed }
  }

  /// Reads an object and calls `read` at the value of `name`. The other fields are validated and may nest at
  /// most `depth` deep.
  ///
  /// - Returns: The result of `read`, or nil if there is no such field or it is `null`.
  package mutating func member<Value>(
    _ name: StaticString, depth: Int,
    _ read: (inout JSONCursor) throws(StrictJSONError) -> Value
  ) throws(StrictJSONError) -> Value? {
    guard take(UInt8(ascii: "{")) else { throw wrongTypeOrMalformed }
    guard !take(UInt8(ascii: "}")) else { return nil }
    var (value, isFound) = (Value?.none, false)
    repeat {
      try countValue()
      let isMatch = Self.isSame(try fieldName(), name, false)
      guard take(UInt8(ascii: ":")) else { throw .malformed }
      if isMatch {
        guard !isFound else { throw .repeatedField }
        isFound = true
        if !takeNull() { value = try read(&self) }
      } else {
        try skipValue(depth: depth)
      }
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw .malformed }
    return value
  }

  /// Reads an array and calls `element` at each element.
  package mutating func array(
    _ element: (inout JSONCursor) throws(StrictJSONError) -> Void
  ) throws(StrictJSONError) {
    guard take(UInt8(ascii: "[")) else { throw wrongTypeOrMalformed }
    guard !take(UInt8(ascii: "]")) else { return }
    repeat {
      try countValue()
      try element(&self)
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw .malformed }
  }

  package mutating func string() throws(StrictJSONError) -> String {
    let content = try stringContent()
    guard content.hasEscapes else { return text(content.range) }
    return String(decoding: unescaped(content.range), as: UTF8.self)
  }

  /// Reads a string without escapes and returns the position of its content, so that no copy is made.
  package mutating func plainString() throws(StrictJSONError) -> Range<Int> {
    let content = try stringContent()
    guard !content.hasEscapes else { throw .wrongType }
    return content.range
  }

  /// Validates a string, such as padding, without keeping it.
  package mutating func skipString() throws(StrictJSONError) {
    _ = try stringContent()
  }

  /// Reads a 64-bit integer without a fraction or an exponent.
  package mutating func integer() throws(StrictJSONError) -> Int64 {
    skipWhitespace()
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

  package mutating func boolean() throws(StrictJSONError) -> Bool {
    if takeWord("true") { return true }
    if takeWord("false") { return false }
    throw wrongTypeOrMalformed
  }

  /// Checks that only whitespace follows.
  package mutating func end() throws(StrictJSONError) {
    skipWhitespace()
    guard position == bytes.count else { throw .moreThanOneValue }
  }
}

extension JSONCursor {
  /// Validates any value. It may nest at most `depth` objects and arrays, and no object may have a field
  /// twice.
  package mutating func skipValue(depth: Int) throws(StrictJSONError) {
    skipWhitespace()
    guard let byte = peek else { throw .malformed }
    switch byte {
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "["):
      guard depth > 0 else { throw .malformed }
      try array { (cursor) throws(StrictJSONError) in try cursor.skipValue(depth: depth - 1) }
    case UInt8(ascii: "{"):
      guard depth > 0 else { throw .malformed }
      try skipObject(depth: depth - 1)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try skipNumber()
    default: guard takeWord("true") || takeWord("false") || takeNull() else { throw .malformed }
    }
  }

  private mutating func skipObject(depth: Int) throws(StrictJSONError) {
    position += 1
    // Compared as strings: decoders treat two canonically equivalent names as equal.
    var names: Set<String> = []
    guard !take(UInt8(ascii: "}")) else { return }
    repeat {
      try countValue()
      let name = String(decoding: try fieldName(), as: UTF8.self)
      guard names.insert(name).inserted else { throw .repeatedField }
      guard take(UInt8(ascii: ":")) else { throw .malformed }
      try skipValue(depth: depth)
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw .malformed }
  }

  private mutating func skipNumber() throws(StrictJSONError) {
    if peek == UInt8(ascii: "-") { position += 1 }
    let startsWithZero = peek == UInt8(ascii: "0")
    let digits = try skipDigits()
    guard !startsWithZero || digits == 1 else { throw .malformed }
    if peek == UInt8(ascii: ".") {
      position += 1
      try skipDigits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      position += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
      try skipDigits()
    }
  }

  /// Returns the number of digits, which is at least one.
  @discardableResult
  private mutating func skipDigits() throws(StrictJSONError) -> Int {
    let start = position
    while let byte = peek, Self.digit(byte) != nil { position += 1 }
    guard position > start else { throw .malformed }
    return position - start
  }
}

extension JSONCursor {
  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipWhitespace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  /// Skips whitespace and consumes `byte` if it is next.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipWhitespace()
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func countValue() throws(StrictJSONError) {
    valuesLeft -= 1
    guard valuesLeft >= 0 else { throw .tooManyParts }
  }

  private mutating func takeNull() -> Bool { takeWord("null") }

  private mutating func takeWord(_ word: StaticString) -> Bool {
    skipWhitespace()
    let isNext = word.withUTF8Buffer { word in
      bytes.count - position >= word.count
        && word.indices.allSatisfy { bytes[position + $0] == word[$0] }
    }
    if isNext { position += word.utf8CodeUnitCount }
    return isNext
  }

  /// `.wrongType` if a value of another type begins here; `.malformed` if none does.
  private var wrongTypeOrMalformed: StrictJSONError {
    var next = self
    next.skipWhitespace()
    guard let byte = next.peek else { return .malformed }
    let begins = byte == UInt8(ascii: "-") || Self.digit(byte) != nil
    let isWord = ["true", "false", "null"].contains { next.takeWord($0) }
    return begins || isWord || [0x22, 0x7B, 0x5B].contains(byte) ? .wrongType : .malformed
  }

  private static func digit(_ byte: UInt8) -> Int64? {
    (0x30...0x39).contains(byte) ? Int64(byte - 0x30) : nil
  }

  private mutating func fieldName() throws(StrictJSONError) -> ArraySlice<UInt8> {
    skipWhitespace()
    guard peek == UInt8(ascii: "\"") else { throw .malformed }
    let content = try stringContent()
    return content.hasEscapes ? unescaped(content.range)[...] : bytes[content.range]
  }

  private static func isSame(
    _ name: ArraySlice<UInt8>, _ known: StaticString, _ ignoringCase: Bool
  ) -> Bool {
    known.withUTF8Buffer { known in
      guard known.count == name.count else { return false }
      return known.indices.allSatisfy { index in
        let byte = name[name.startIndex + index]
        let isUpperCase = (0x41...0x5A).contains(byte)
        return byte == known[index] || (ignoringCase && isUpperCase && byte | 0x20 == known[index])
      }
    }
  }
}

extension JSONCursor {
  /// Validates every byte of a string and returns the range between its quotation marks.
  private mutating func stringContent() throws(StrictJSONError) -> (
    range: Range<Int>, hasEscapes: Bool
  ) {
    guard take(UInt8(ascii: "\"")) else { throw wrongTypeOrMalformed }
    let start = position
    let (end, escapes) = bytes.withUnsafeBufferPointer { bytes -> (Int?, Int) in
      var scan = JSONStringScan(bytes, at: start)
      return (scan.reachesEnd() ? scan.position : nil, scan.escapes)
    }
    guard let end else { throw .malformed }
    escapesLeft -= escapes
    guard escapesLeft >= 0 else { throw .tooManyParts }
    position = end + 1
    return (start..<end, escapes > 0)
  }

  private func text(_ range: Range<Int>) -> String {
    bytes.withUnsafeBufferPointer {
      String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self)
    }
  }

  /// Resolves the escapes of a string that is known to be valid.
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

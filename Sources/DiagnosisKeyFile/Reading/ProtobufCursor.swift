/// Reads protobuf fields from bytes in memory, and detects if the bytes end too early.
struct ProtobufCursor {
  enum ParseError: Error {
    /// The bytes end inside the value; more bytes may complete it.
    case incomplete
    /// No more bytes can make the value valid.
    case malformed
  }

  enum WireType: UInt64 {
    case varint = 0
    case fixed64 = 1
    case lengthDelimited = 2
    case fixed32 = 5
  }

  struct Tag {
    let number: UInt64
    let wireType: WireType
  }

  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { offset == bytes.count }
  var remaining: Int { bytes.count - offset }

  mutating func tag() throws(ParseError) -> Tag {
    let raw = try varint()
    // Groups (3 and 4) were deprecated before this format was published; no server writes them.
    guard raw < UInt64(UInt32.max), raw >> 3 != 0, let wireType = WireType(rawValue: raw & 7) else {
      throw .malformed
    }
    return Tag(number: raw >> 3, wireType: wireType)
  }

  mutating func varint() throws(ParseError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard offset < bytes.count else { throw .incomplete }
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 {
        // The tenth byte has room for one bit.
        guard shift < 63 || byte <= 1 else { throw .malformed }
        return value
      }
    }
    throw .malformed
  }

  /// The length of the following bytes, limited to the size of an export.
  mutating func length() throws(ParseError) -> Int {
    let raw = try varint()
    guard raw <= UInt64(KeyFileLimit.exportByteCountMax) else { throw .malformed }
    return Int(raw)
  }

  mutating func take(_ count: Int) throws(ParseError) -> UnsafeRawBufferPointer {
    guard count <= remaining else { throw .incomplete }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  /// Skips a value of the given type.
  mutating func skip(_ wireType: WireType) throws(ParseError) {
    switch wireType {
    case .varint: _ = try varint()
    case .fixed64: _ = try take(8)
    case .fixed32: _ = try take(4)
    case .lengthDelimited: _ = try take(try length())
    }
  }
}

extension ProtobufCursor {
  /// An `int32`: the low 32 bits of the varint.
  mutating func int32() throws(ParseError) -> Int32 {
    Int32(truncatingIfNeeded: try varint())
  }

  /// A `sint32` in zigzag encoding.
  mutating func sint32() throws(ParseError) -> Int32 {
    let raw = UInt32(truncatingIfNeeded: try varint())
    return Int32(bitPattern: raw >> 1) ^ -Int32(bitPattern: raw & 1)
  }
}

extension [UInt8] {
  mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}

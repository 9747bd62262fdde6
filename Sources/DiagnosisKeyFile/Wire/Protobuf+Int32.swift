extension ProtobufCursor {
  /// An `int32`: the low 32 bits of the varint, as protobuf has it.
  mutating func int32() throws(Obstacle) -> Int32 {
    Int32(truncatingIfNeeded: try varint())
  }

  /// A `sint32`: small numbers of either sign in few bytes.
  mutating func sint32() throws(Obstacle) -> Int32 {
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

  /// A length-delimited field.
  mutating func appendField(_ number: UInt64, _ content: [UInt8]) {
    appendVarint(number << 3 | ProtobufCursor.WireType.lengthDelimited.rawValue)
    appendVarint(UInt64(content.count))
    append(contentsOf: content)
  }

  /// An `int32` field.
  mutating func appendField(_ number: UInt64, _ value: Int32) {
    appendVarint(number << 3 | ProtobufCursor.WireType.varint.rawValue)
    appendVarint(UInt64(bitPattern: Int64(value)))
  }

  /// A `sint32` field.
  mutating func appendField(_ number: UInt64, zigzag value: Int32) {
    appendVarint(number << 3 | ProtobufCursor.WireType.varint.rawValue)
    appendVarint(UInt64(UInt32(bitPattern: value << 1 ^ value >> 31)))
  }
}

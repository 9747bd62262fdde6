/// The few parts of Protocol Buffers that a revision token is made of: varints and byte fields.
enum ProtobufText {
  /// Appends `bytes` as field `number`.
  static func append(_ bytes: some Collection<UInt8>, as number: UInt8, to text: inout [UInt8]) {
    appendHead(of: number, byteCount: bytes.count, to: &text)
    text.append(contentsOf: bytes)
  }

  /// Appends what stands before the bytes of field `number`, where `byteCount` of them follow.
  static func appendHead(of number: UInt8, byteCount: Int, to text: inout [UInt8]) {
    text.append(number << 3 | 2)
    appendVarint(UInt64(byteCount), to: &text)
  }

  /// Appends `value` as field `number` in exactly `width` bytes of varint: leading zero groups are
  /// written out, which every reader takes, so that the length tells nothing about the value.
  static func append(
    _ value: UInt32, as number: UInt8, width: Int, to text: inout [UInt8]
  ) {
    text.append(number << 3)
    for place in 0..<width {
      let group = UInt8(truncatingIfNeeded: value >> UInt32(7 * place)) & 0x7F
      text.append(place == width - 1 ? group : group | 0x80)
    }
  }

  private static func appendVarint(_ value: UInt64, to text: inout [UInt8]) {
    var rest = value
    while rest > 0x7F {
      text.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    text.append(UInt8(rest))
  }

  /// One field that was read.
  enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
  }

  /// The fields of `text` in their order; nil where it is cut off or of another kind.
  static func fields(of text: ArraySlice<UInt8>) -> [(number: UInt64, value: Value)]? {
    var rest = text
    var fields: [(UInt64, Value)] = []
    while !rest.isEmpty {
      guard let tag = varint(&rest), let first = varint(&rest) else { return nil }
      switch tag & 7 {
      case 0: fields.append((tag >> 3, .number(first)))
      case 2:
        guard first <= UInt64(rest.count) else { return nil }
        fields.append((tag >> 3, .bytes(rest.prefix(Int(first)))))
        rest = rest.dropFirst(Int(first))
      default: return nil
      }
    }
    return fields
  }

  private static func varint(_ text: inout ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for place in 0..<10 {
      guard let byte = text.popFirst() else { return nil }
      value |= UInt64(byte & 0x7F) << UInt64(7 * place)
      if byte < 0x80 { return value }
    }
    return nil
  }
}

import Foundation

/// A value of the D-Bus type system, with the types that notifications need.
package indirect enum DBusValue: Equatable, Sendable {
  case byte(UInt8)
  case int32(Int32)
  case uint32(UInt32)
  case string(String)
  case path(String)
  case signature(String)
  case variant(DBusValue)
  /// The signature of the elements, and the elements.
  case array(String, [DBusValue])
  case structure([DBusValue])
  case entry(DBusValue, DBusValue)

  /// The signature of the type.
  package var signature: String {
    switch self {
    case .byte: "y"
    case .int32: "i"
    case .uint32: "u"
    case .string: "s"
    case .path: "o"
    case .signature: "g"
    case .variant: "v"
    case .array(let element, _): "a" + element
    case .structure(let members): "(" + members.map(\.signature).joined() + ")"
    case .entry(let key, let value): "{" + key.signature + value.signature + "}"
    }
  }
}

/// Writes values in the wire form: every value at a multiple of its alignment.
struct DBusWriter {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  mutating func align(to size: Int) {
    bytes += [UInt8](repeating: 0, count: (size - bytes.count % size) % size)
  }

  mutating func write(_ value: DBusValue) {
    switch value {
    case .byte(let byte): bytes.append(byte)
    case .int32(let number): write(UInt32(bitPattern: number))
    case .uint32(let number): write(number)
    case .string(let text), .path(let text):
      write(UInt32(text.utf8.count))
      bytes += text.utf8 + [0]
    case .signature(let text): bytes += [UInt8(text.utf8.count)] + text.utf8 + [0]
    case .variant(let value):
      write(.signature(value.signature))
      write(value)
    case .array(let element, let values): write(values, of: element)
    case .structure(let members):
      align(to: 8)
      for member in members { write(member) }
    case .entry(let key, let value): write(.structure([key, value]))
    }
  }

  private mutating func write(_ number: UInt32) {
    align(to: 4)
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
  }

  /// The size does not count the padding before the first element.
  private mutating func write(_ values: [DBusValue], of element: String) {
    write(0)
    let size = bytes.count - 4
    align(to: DBusReader.alignment(of: element))
    let start = bytes.count
    for value in values { write(value) }
    let count = UInt32(bytes.count - start)
    withUnsafeBytes(of: count.littleEndian) { bytes.replaceSubrange(size..<(size + 4), with: $0) }
  }
}

/// Reads values in the wire form.
struct DBusReader {
  private let bytes: [UInt8]
  private var position: Int
  private var depth = 0

  /// The deepest nesting of values; the specification allows more.
  private static let depthMax = 8

  init(_ bytes: [UInt8], at position: Int) {
    self.bytes = bytes
    self.position = position
  }

  mutating func align(to size: Int) throws(DBusError) {
    position += (size - position % size) % size
    guard position <= bytes.count else { throw .malformed }
  }

  mutating func uint32() throws(DBusError) -> UInt32 {
    try align(to: 4)
    return try take(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The value with the signature `type`, which is one complete type.
  mutating func value(_ type: String) throws(DBusError) -> DBusValue {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthMax else { throw .malformed }
    switch type.first {
    case "y": return .byte(try take(1).first ?? 0)
    case "i": return .int32(Int32(bitPattern: try uint32()))
    case "u": return .uint32(try uint32())
    case "s": return .string(try text())
    case "o": return .path(try text())
    case "g": return .signature(try signature())
    case "v": return .variant(try value(try Self.oneType(try signature())))
    case "a": return try array(of: String(type.dropFirst()))
    case "(": return .structure(try members(of: type))
    case "{":
      let pair = try members(of: type)
      guard pair.count == 2 else { throw .malformed }
      return .entry(pair[0], pair[1])
    default: throw .malformed
    }
  }

  private mutating func array(of element: String) throws(DBusError) -> DBusValue {
    let count = Int(try uint32())
    try align(to: Self.alignment(of: element))
    let end = position + count
    guard end <= bytes.count else { throw .malformed }
    var values: [DBusValue] = []
    while position < end { values.append(try value(element)) }
    guard position == end else { throw .malformed }
    return .array(element, values)
  }

  private mutating func members(of type: String) throws(DBusError) -> [DBusValue] {
    try align(to: 8)
    var values: [DBusValue] = []
    let types = try Self.types(in: String(type.dropFirst().dropLast()))
    // The specification has no empty structure, and an array of them would never end.
    guard !types.isEmpty else { throw .malformed }
    for member in types {
      values.append(try value(member))
    }
    return values
  }

  private mutating func text() throws(DBusError) -> String {
    let count = Int(try uint32())
    let text = try take(count)
    _ = try take(1)
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func signature() throws(DBusError) -> String {
    let count = Int(try take(1).first ?? 0)
    let text = try take(count)
    _ = try take(1)
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func take(_ count: Int) throws(DBusError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= bytes.count - position else { throw .malformed }
    defer { position += count }
    return bytes[position..<(position + count)]
  }
}

extension DBusReader {
  static func alignment(of type: String) -> Int {
    switch type.first {
    case "y", "g", "v": 1
    case "(", "{": 8
    default: 4
    }
  }

  /// The complete types of a signature.
  static func types(in signature: String) throws(DBusError) -> [String] {
    var types: [String] = []
    var type = ""
    var nesting = 0
    for character in signature {
      type.append(character)
      if "({".contains(character) { nesting += 1 }
      if ")}".contains(character) { nesting -= 1 }
      if nesting == 0, character != "a" {
        types.append(type)
        type = ""
      }
    }
    guard type.isEmpty, nesting == 0 else { throw .malformed }
    return types
  }

  private static func oneType(_ signature: String) throws(DBusError) -> String {
    let types = try types(in: signature)
    guard types.count == 1 else { throw .malformed }
    return types[0]
  }
}

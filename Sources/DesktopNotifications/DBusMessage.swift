// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A message of D-Bus in the little-endian form of the specification, version 1.
package struct DBusMessage: Equatable, Sendable {
  /// The types of messages.
  package enum Kind: UInt8, Sendable {
    case call = 1
    case reply = 2
    case error = 3
    case signal = 4
  }

  /// A field of the header.
  package enum Field: UInt8, Sendable {
    case path = 1
    case interface = 2
    case member = 3
    case errorName = 4
    case replySerial = 5
    case destination = 6
    case sender = 7
    case signature = 8
  }

  package var kind: Kind
  package var serial: UInt32
  package var fields: [Field: DBusValue] = [:]
  package var body: [DBusValue] = []

  package init(_ kind: Kind, serial: UInt32, fields: [Field: DBusValue], body: [DBusValue] = []) {
    self.kind = kind
    self.serial = serial
    self.fields = fields
    self.body = body
    if !body.isEmpty { self.fields[.signature] = .signature(body.map(\.signature).joined()) }
  }

  /// A call of a method.
  package static func call(
    _ member: String, of interface: String, at path: String, of destination: String,
    serial: UInt32, _ arguments: [DBusValue] = []
  ) -> DBusMessage {
    DBusMessage(
      .call, serial: serial,
      fields: [
        .path: .path(path), .interface: .string(interface), .member: .string(member),
        .destination: .string(destination),
      ], body: arguments)
  }

  /// The number of the call that this message answers.
  package var replySerial: UInt32? {
    if case .uint32(let serial) = fields[.replySerial] { serial } else { nil }
  }

  /// The name that the bus gave to the sender.
  var sender: String? {
    if case .string(let sender) = fields[.sender] { sender } else { nil }
  }

  /// The interface of a called method or of a signal.
  var interface: String? {
    if case .string(let interface) = fields[.interface] { interface } else { nil }
  }

  /// The name of a called method or of a signal.
  package var member: String? {
    if case .string(let member) = fields[.member] { member } else { nil }
  }
}

extension DBusMessage {
  /// The part of each message that gives its size: order, type, flags, version, body size, serial, fields size.
  package static let fixedByteCount = 16
  /// The largest message that is received, in bytes; the bus itself allows 128 MiB.
  package static let byteCountMax = 64 << 10

  private static let littleEndian = UInt8(ascii: "l")
  private static let version: UInt8 = 1

  /// The bytes to send.
  package var bytes: [UInt8] {
    var body = DBusWriter()
    for value in self.body { body.write(value) }
    var message = DBusWriter(
      [Self.littleEndian, kind.rawValue, 0, Self.version])
    message.write(.uint32(UInt32(body.bytes.count)))
    message.write(.uint32(serial))
    let fields = fields.sorted { $0.key.rawValue < $1.key.rawValue }.map { field, value in
      DBusValue.structure([.byte(field.rawValue), .variant(value)])
    }
    message.write(.array("(yv)", fields))
    message.align(to: 8)
    return message.bytes + body.bytes
  }

  /// The number of bytes after the fixed part, whose bytes are `fixed`.
  ///
  /// - Throws: `DBusError.malformed` if this is not a message that we read.
  package static func remainingByteCount(after fixed: [UInt8]) throws(DBusError) -> Int {
    guard fixed.count == fixedByteCount, fixed[0] == littleEndian, fixed[3] == version else {
      throw .malformed
    }
    var reader = DBusReader(fixed, at: 4)
    let (body, _, fields) = (try reader.uint32(), try reader.uint32(), try reader.uint32())
    let count = (Int(fields) + 7) / 8 * 8 + Int(body)
    guard count <= byteCountMax else { throw .malformed }
    return count
  }

  /// Parses a complete message.
  ///
  /// - Throws: `DBusError.malformed` if it is not one, or has types that we do not read.
  package init(parsing bytes: [UInt8]) throws(DBusError) {
    guard bytes.count > 2, let kind = Kind(rawValue: bytes[1]) else { throw .malformed }
    var reader = DBusReader(bytes, at: 8)
    let serial = try reader.uint32()
    var fields: [Field: DBusValue] = [:]
    guard case .array(_, let list) = try reader.value("a(yv)") else { throw .malformed }
    for case .structure(let pair) in list {
      guard pair.count == 2, case .byte(let code) = pair[0], case .variant(let value) = pair[1]
      else { throw .malformed }
      if let field = Field(rawValue: code) { fields[field] = value }
    }
    try reader.align(to: 8)
    var body: [DBusValue] = []
    if case .signature(let signature) = fields[.signature] {
      for type in try DBusReader.types(in: signature) { body.append(try reader.value(type)) }
    }
    (self.kind, self.serial, self.fields, self.body) = (kind, serial, fields, body)
  }
}

/// The reason why a notification could not be shown over D-Bus.
package enum DBusError: Error, Equatable, Sendable {
  /// The bus sent something that is not a message of the specification.
  case malformed
  /// The bus did not accept this user.
  case refused
  /// The bus or the called program answered with an error of this name.
  case failed(String)
}

/// A value of the D-Bus type system, with the types that notifications need.
package indirect enum DBusValue: Equatable, Sendable {
  case byte(UInt8)
  case boolean(Bool)
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
    case .boolean: "b"
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
    case .boolean(let isTrue): write(isTrue ? 1 : 0)
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
    case "b": return .boolean(try uint32() != 0)
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

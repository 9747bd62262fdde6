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

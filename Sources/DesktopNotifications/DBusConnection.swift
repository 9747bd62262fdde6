// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings
import UnixSockets

/// A connection to a message bus over a Unix domain socket, for sequential calls.
///
/// It implements the parts of D-Bus that notifications need: EXTERNAL authentication, which uses the peer credentials
/// of the socket, method calls and signals. Its functions block their thread until the deadline.
package struct DBusConnection: Sendable {
  let socket: UnixSocket
  /// The time until which calls and transfers must end.
  package var deadline: ContinuousClock.Instant
  /// The signals that arrived while calls waited for their replies.
  private(set) var signals: [DBusMessage] = []
  private var lastSerial: UInt32 = 0

  /// The name of the bus itself.
  private static let bus = "org.freedesktop.DBus"

  /// Connects to the bus at `address`, which has the form of `DBUS_SESSION_BUS_ADDRESS`.
  ///
  /// - Throws: `UnixSocketError` or `DBusError`.
  package init(to address: DBusAddress, before deadline: ContinuousClock.Instant) throws {
    self.deadline = deadline
    socket = try UnixSocket.connected(to: address.socket)
    try authenticate()
    _ = try call("Hello", of: Self.bus, at: "/org/freedesktop/DBus", of: Self.bus)
  }

  /// Calls a method and returns the values of its reply.
  ///
  /// - Throws: `UnixSocketError` or `DBusError`.
  package mutating func call(
    _ member: String, of interface: String, at path: String, of destination: String,
    _ arguments: [DBusValue] = []
  ) throws -> [DBusValue] {
    try reply(to: member, of: interface, at: path, of: destination, arguments).body
  }

  /// Calls a method and returns its reply.
  ///
  /// - Throws: `UnixSocketError` or `DBusError`.
  mutating func reply(
    to member: String, of interface: String, at path: String, of destination: String,
    _ arguments: [DBusValue] = []
  ) throws -> DBusMessage {
    lastSerial += 1
    let call = DBusMessage.call(
      member, of: interface, at: path, of: destination, serial: lastSerial, arguments)
    try send(call)
    while true {
      let message = try receive()
      if message.kind == .signal { signals.append(message) }
      guard message.replySerial == lastSerial else { continue }
      switch message.kind {
      case .reply: return message
      case .error:
        guard case .string(let name) = message.fields[.errorName] else { throw DBusError.malformed }
        throw DBusError.failed(name)
      case .call, .signal: continue
      }
    }
  }

  /// Receives the messages that have arrived, and returns the signals since the last call. Waits for none.
  mutating func takeSignals() throws -> [DBusMessage] {
    while socket.hasInput {
      let message = try receive()
      if message.kind == .signal { signals.append(message) }
    }
    defer { signals = [] }
    return signals
  }

  package func send(_ message: DBusMessage) throws {
    try socket.send(message.bytes, before: deadline)
  }

  /// The next message of the bus.
  package func receive() throws -> DBusMessage {
    let fixed = try socket.receive(exactly: DBusMessage.fixedByteCount, before: deadline)
    let count = try DBusMessage.remainingByteCount(after: fixed)
    let rest = try socket.receive(exactly: count, before: deadline)
    return try DBusMessage(parsing: fixed + rest)
  }

  /// Authenticates with EXTERNAL: the bus compares the user ID in the text with the socket's peer credentials.
  private func authenticate() throws {
    let user = "\(geteuid())".utf8.hexadecimal
    try socket.send([0] + Array("AUTH EXTERNAL \(user)\r\n".utf8), before: deadline)
    guard try receiveLine().hasPrefix("OK ") else { throw DBusError.refused }
    try socket.send(Array("BEGIN\r\n".utf8), before: deadline)
  }

  private func receiveLine() throws -> String {
    var line: [UInt8] = []
    while !line.ends(with: "\r\n".utf8) {
      guard line.count < Self.lineBytesMax else { throw DBusError.malformed }
      line += try socket.receive(exactly: 1, before: deadline)
    }
    return String(decoding: line, as: UTF8.self)
  }

  private static let lineBytesMax = 1_024
}

/// The address of a message bus on this machine, in the form of `DBUS_SESSION_BUS_ADDRESS`.
package struct DBusAddress: Hashable, Sendable {
  let socket: UnixAddress

  /// The first address in `text` that is a Unix domain socket; `nil` if there is none.
  ///
  /// The form is `unix:path=/run/user/1000/bus,guid=...`, several separated by semicolons, with `%` escapes.
  package init?(_ text: String) {
    let found = text.split(separator: ";").lazy.compactMap { address -> UnixAddress? in
      guard address.hasPrefix("unix:") else { return nil }
      let values = address.dropFirst("unix:".count).split(separator: ",").map {
        $0.split(separator: "=", maxSplits: 1).map(String.init)
      }
      func value(_ key: String) -> String? {
        values.first { $0.count == 2 && $0[0] == key }.flatMap { $0[1].removingPercentEncoding }
      }
      return value("path").map { .file($0) }
        ?? value("abstract").map { .abstract(Array($0.utf8)) }
    }.first
    guard let found else { return nil }
    socket = found
  }
}

extension [UInt8] {
  fileprivate func ends(with end: String.UTF8View) -> Bool {
    suffix(end.count).elementsEqual(end)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// The notification service of a desktop (Desktop Notifications Specification 1.2), reached over the session bus.
///
/// Each call opens its own connection: notices are rare, and the desktop session may restart.
package struct DesktopNotifications: Sendable {
  private let bus: DBusAddress
  private let callSeconds: Int
  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"

  /// The service on `bus`, which must answer a call in `callSeconds`.
  package init(on bus: DBusAddress, callSeconds: Int = DesktopLimit.callSeconds) {
    self.bus = bus
    self.callSeconds = callSeconds
  }

  /// Shows a notification until the user closes it.
  ///
  /// - Parameter replaced: The number of the shown notification that this one replaces, or 0.
  /// - Returns: The number of the notification.
  /// - Throws: `UnixSocketError` or `DBusError` if there is no service or it does not answer in time.
  package func show(
    title: String, body: String, isUrgent: Bool, replacing replaced: UInt32 = 0
  ) async throws -> UInt32 {
    let urgency = DBusValue.byte(isUrgent ? 2 : 1)
    let arguments: [DBusValue] = [
      .string("Firebreak"), .uint32(replaced), .string(""), .string(title),
      .string(Self.escaped(body)), .array("s", []),
      .array("{sv}", [.entry(.string("urgency"), .variant(urgency))]),
      .int32(DesktopLimit.neverExpires),
    ]
    let reply = try await call("Notify", arguments)
    guard case .uint32(let number) = reply.first else { throw DBusError.malformed }
    return number
  }

  /// Closes a notification; no effect if the user has closed it.
  package func close(_ number: UInt32) async throws {
    _ = try await call("CloseNotification", [.uint32(number)])
  }

  private func call(_ member: String, _ arguments: [DBusValue]) async throws -> [DBusValue] {
    try await UnixSocket.offThread {
      var connection = try DBusConnection(
        to: bus, before: .now + .seconds(callSeconds))
      return try connection.call(
        member, of: Self.name, at: Self.path, of: Self.name, arguments)
    }
  }

  /// Desktops may read the body as markup.
  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}

/// Limits of the desktop's notifications.
package enum DesktopLimit {
  /// The time in which the bus and the service must answer, in seconds.
  package static let callSeconds = 5
  /// The specification's value for notifications that stay until the user closes them.
  package static let neverExpires: Int32 = 0
}

/// A connection to a message bus over a Unix domain socket, for sequential calls.
///
/// It implements the parts of D-Bus that notifications need: EXTERNAL authentication, which uses the peer credentials
/// of the socket, and method calls. Its functions block their thread until the deadline.
package struct DBusConnection {
  private let socket: UnixSocket
  private let deadline: ContinuousClock.Instant
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
    lastSerial += 1
    let call = DBusMessage.call(
      member, of: interface, at: path, of: destination, serial: lastSerial, arguments)
    try send(call)
    while true {
      let message = try receive()
      guard message.replySerial == lastSerial else { continue }
      switch message.kind {
      case .reply: return message.body
      case .error:
        guard case .string(let name) = message.fields[.errorName] else { throw DBusError.malformed }
        throw DBusError.failed(name)
      case .call, .signal: continue
      }
    }
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

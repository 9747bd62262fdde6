// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings
import UnixSockets

/// The notification service of a desktop (Desktop Notifications Specification 1.2), reached over the session bus.
///
/// Each call opens its own connection: notices are rare, and the desktop session may restart.
package struct DesktopNotifications: Sendable {
  private let bus: DBusAddress
  private let appName: String
  private let callSeconds: Int
  static let name = "org.freedesktop.Notifications"
  static let path = "/org/freedesktop/Notifications"

  /// The service on `bus`, which shows `appName` and must answer a call in `callSeconds`.
  package init(
    on bus: DBusAddress, appName: String = "Firebreak",
    callSeconds: Int = DesktopLimit.callSeconds
  ) {
    self.bus = bus
    self.appName = appName
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
      .string(appName), .uint32(replaced), .string(""), .string(title),
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
  static func escaped(_ text: String) -> String {
    text.replacingScalars(["&": "&amp;", "<": "&lt;", ">": "&gt;"])
  }
}

/// Limits of the desktop's notifications.
package enum DesktopLimit {
  /// The time in which the bus and the service must answer, in seconds.
  package static let callSeconds = 5
  /// The specification's value for notifications that stay until the user closes them.
  package static let neverExpires: Int32 = 0
  /// The specification's value for notifications that disappear after a time of the service.
  static let expiresByDefault: Int32 = -1
}

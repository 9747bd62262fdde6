// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import UnixSockets

@testable import DesktopNotifications

/// A notification service on a bus. Each notification gets the next number, and the service then sends signals of the
/// test's choice to its sender, as some desktops do.
struct TestDesktop: Sendable {
  let bus: DBusAddress
  var capabilities = ["actions", "body-markup", "inline-reply"]
  /// The signals after a notification with this number.
  var signals: @Sendable (UInt32) -> [DBusMessage] = { _ in [] }
  /// The same signals, from another program.
  var forgedSignals: @Sendable (UInt32) -> [DBusMessage] = { _ in [] }

  private static let busName = "org.freedesktop.DBus"
  private static let busPath = "/org/freedesktop/DBus"

  private static func connection(to bus: DBusAddress) throws -> DBusConnection {
    try DBusConnection(to: bus, before: .now + .seconds(Patience.seconds))
  }

  /// Answers calls until there were `count` besides those for the capabilities, and returns these. `isReady` is called
  /// when the service has its name.
  func answer(_ count: Int, isReady: @escaping @Sendable () -> Void) async throws -> [DBusMessage] {
    try await UnixSocket.offThread {
      var service = try Self.connection(to: bus)
      _ = try service.call(
        "RequestName", of: Self.busName, at: Self.busPath, of: Self.busName,
        [.string(DesktopNotifications.name), .uint32(0)])
      isReady()
      var calls: [DBusMessage] = []
      var number: UInt32 = 0
      while calls.count < count {
        let call = try service.receive()
        guard call.kind == .call, let caller = call.sender else { continue }
        var body: [DBusValue] = []
        switch call.member {
        case "GetCapabilities": body = [.array("s", capabilities.map { .string($0) })]
        case "Notify":
          number += 1
          body = [.uint32(number)]
        default: break
        }
        if call.member != "GetCapabilities" { calls.append(call) }
        try service.send(
          DBusMessage(
            .reply, serial: 1_000,
            fields: [.replySerial: .uint32(call.serial), .destination: .string(caller)],
            body: body))
        guard call.member == "Notify" else { continue }
        try forge(forgedSignals(number), to: caller)
        for signal in signals(number) { try service.send(signal.sent(to: caller)) }
      }
      return calls
    }
  }

  private func forge(_ signals: [DBusMessage], to receiver: String) throws {
    guard !signals.isEmpty else { return }
    var program = try Self.connection(to: bus)
    for signal in signals { try program.send(signal.sent(to: receiver)) }
    // The bus has delivered them when it answers.
    _ = try program.call("GetId", of: Self.busName, at: Self.busPath, of: Self.busName)
  }

  /// A signal of the service.
  static func signal(_ member: String, _ body: [DBusValue]) -> DBusMessage {
    DBusMessage(
      .signal, serial: 2_000,
      fields: [
        .path: .path(DesktopNotifications.path), .interface: .string(DesktopNotifications.name),
        .member: .string(member),
      ], body: body)
  }
}

extension DBusMessage {
  fileprivate func sent(to receiver: String) -> DBusMessage {
    var message = self
    message.fields[.destination] = .string(receiver)
    return message
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Logging
import Synchronization
import UnixSockets

/// A lasting connection to the notification service of a desktop, on which the user's responses arrive.
///
/// Services may send responses only to the connection that showed the notification, so one connection does both. All
/// work is done on one queue, which also waits for responses. A connection that fails is replaced at the next
/// notification; responses to earlier notifications are then lost.
final class DesktopSession: Sendable {
  /// A response of the user.
  enum Response: Equatable, Sendable {
    /// The user chose the action with this key.
    case action(UInt32, key: String)
    /// The user sent a text.
    case text(UInt32, String)
    /// The user dismissed the notification.
    case dismissal(UInt32)
  }

  /// The connection while it works, and what the service can do.
  struct Service {
    fileprivate var connection: DBusConnection
    fileprivate let source: any DispatchSourceRead
    /// The name that the bus gave to the service that showed the last notification.
    fileprivate var name: String?
    /// The optional features of the service.
    let capabilities: Set<String>

    /// True if the service has not shown a notification on this connection.
    var isNew: Bool { name == nil }
  }

  private let bus: DBusAddress
  private let callSeconds: Int
  private let logger: Logger
  private let respond: @Sendable (Response) -> Void
  private let queue = DispatchQueue(label: "DesktopSession")
  // Only the queue uses it.
  private let service = Mutex<Service?>(nil)

  /// A session on `bus`, whose service must answer a call in `callSeconds`. `respond` is called on a queue of the
  /// session and must return at once.
  init(
    on bus: DBusAddress, callSeconds: Int = DesktopLimit.callSeconds, logger: Logger,
    respond: @escaping @Sendable (Response) -> Void
  ) {
    self.bus = bus
    self.callSeconds = callSeconds
    self.logger = logger
    self.respond = respond
  }

  deinit {
    service.withLock { $0?.source.cancel() }
  }

  /// Runs `work` with the service on the session's queue; connects first if necessary. An error is logged and ends the
  /// connection.
  func perform(_ work: @escaping @Sendable (inout Service) throws -> Void) {
    queue.async { [self] in
      do {
        let signals = try service.withLock { service in
          if service == nil { service = try connect() }
          guard var current = service else { return [DBusMessage]() }
          current.connection.deadline = .now + .seconds(callSeconds)
          defer { service = current }
          try work(&current)
          return try current.takeSignals()
        }
        report(signals)
      } catch {
        disconnect(after: error)
      }
    }
  }

  private func connect() throws -> Service {
    var connection = try DBusConnection(to: bus, before: .now + .seconds(callSeconds))
    let (name, path) = (DesktopNotifications.name, DesktopNotifications.path)
    let rule = "type='signal',sender='\(name)',interface='\(name)'"
    _ = try connection.call(
      "AddMatch", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus",
      of: "org.freedesktop.DBus", [.string(rule)])
    let reply = try connection.call("GetCapabilities", of: name, at: path, of: name)
    var capabilities: Set<String> = []
    if case .array(_, let names) = reply.first {
      for case .string(let name) in names { capabilities.insert(name) }
    }
    return Service(
      connection: connection, source: source(for: connection.socket), name: nil,
      capabilities: capabilities)
  }

  /// Reads signals while no call waits for its reply.
  private func source(for socket: UnixSocket) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(
      fileDescriptor: socket.withDescriptor { $0 }, queue: queue)
    source.setEventHandler { [weak self] in self?.receive() }
    // The source needs the descriptor until then.
    source.setCancelHandler { withExtendedLifetime(socket) {} }
    source.resume()
    return source
  }

  private func receive() {
    do {
      let signals = try service.withLock { service in
        service?.connection.deadline = .now + .seconds(callSeconds)
        return try service?.takeSignals() ?? []
      }
      report(signals)
    } catch {
      disconnect(after: error)
    }
  }

  private func report(_ signals: [DBusMessage]) {
    for response in signals.compactMap(Response.init) { respond(response) }
  }

  private func disconnect(after error: any Error) {
    service.withLock { service in
      service?.source.cancel()
      service = nil
    }
    logger.info(
      "the connection to the desktop's notification service failed; it is tried again at the next notification",
      metadata: ["error": "\(error)"])
  }
}

extension DesktopSession.Service {
  /// Shows a notification. Returns its ID, and whether the service was started again since the last one; it then has
  /// none of the earlier notifications.
  mutating func notify(_ arguments: [DBusValue]) throws -> (id: UInt32, isRestarted: Bool) {
    let reply = try reply(to: "Notify", arguments)
    guard case .uint32(let id) = reply.body.first else { throw DBusError.malformed }
    let isRestarted = name != nil && name != reply.sender
    name = reply.sender
    return (id, isRestarted)
  }

  /// Closes a notification; no effect if the user has closed it.
  mutating func close(_ number: UInt32) throws {
    do {
      _ = try reply(to: "CloseNotification", [.uint32(number)])
    } catch DBusError.failed {
      // The specification lets a service answer with an error for a notification that is gone.
    }
  }

  private mutating func reply(to member: String, _ arguments: [DBusValue]) throws -> DBusMessage {
    let (name, path) = (DesktopNotifications.name, DesktopNotifications.path)
    return try connection.reply(to: member, of: name, at: path, of: name, arguments)
  }

  /// The signals of the service that have arrived. Other programs on the bus could send the same signals.
  fileprivate mutating func takeSignals() throws -> [DBusMessage] {
    try connection.takeSignals().filter { $0.sender != nil && $0.sender == name }
  }
}

extension DesktopSession.Response {
  /// The response that a signal reports; nil for another signal.
  init?(_ signal: DBusMessage) {
    guard signal.interface == DesktopNotifications.name, signal.body.count == 2,
      case .uint32(let number) = signal.body[0]
    else { return nil }
    switch (signal.member, signal.body[1]) {
    case ("ActionInvoked", .string(let key)): self = .action(number, key: key)
    case ("NotificationReplied", .string(let text)): self = .text(number, text)
    case ("NotificationClosed", .uint32(Self.dismissed)): self = .dismissal(number)
    default: return nil
    }
  }

  /// The specification's reason of a notification that the user has dismissed.
  private static let dismissed: UInt32 = 2
}

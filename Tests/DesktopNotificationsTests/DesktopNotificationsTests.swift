// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UnixSockets

@testable import DesktopNotifications

@Suite("Notices on the desktop")
struct DesktopNotificationsTests {
  /// A notification as a desktop receives it.
  private struct Received: Equatable {
    let replaced: UInt32
    let title: String
    let body: String
    let urgency: UInt8

    init?(_ message: DBusMessage) {
      guard message.member == "Notify",
        message.body.map(\.signature).joined() == "susssasa{sv}i",
        case .uint32(let replaced) = message.body[1], case .string(let title) = message.body[3],
        case .string(let body) = message.body[4],
        case .array(_, let hints) = message.body[6],
        case .entry(.string("urgency"), .variant(.byte(let urgency)))? = hints.first
      else { return nil }
      (self.replaced, self.title, self.body, self.urgency) = (replaced, title, body, urgency)
    }
  }

  private static var patience: ContinuousClock.Instant { .now + .seconds(Patience.seconds) }

  /// Owns the name of the notification service on `bus` and answers one call.
  private static func answerOneCall(
    on bus: DBusAddress, named name: String = "org.freedesktop.Notifications",
    owned: @escaping @Sendable () -> Void
  ) async throws -> DBusMessage {
    try await UnixSocket.offThread {
      var service = try DBusConnection(to: bus, before: patience)
      let path = "/org/freedesktop/DBus"
      _ = try service.call(
        "RequestName", of: "org.freedesktop.DBus", at: path, of: "org.freedesktop.DBus",
        [.string(name), .uint32(0)])
      owned()
      while true {
        let call = try service.receive()
        guard call.kind == .call, case .string(let caller) = call.fields[.sender] else { continue }
        let reply = DBusMessage(
          .reply, serial: 1_000,
          fields: [.replySerial: .uint32(call.serial), .destination: .string(caller)],
          body: call.member == "Notify" ? [.uint32(42)] : [])
        try service.send(reply)
        return call
      }
    }
  }

  @Test(
    "A notice reaches the notification service over the system's message bus, and is closed",
    .needs(.process))
  func realBus() async throws {
    try await MessageBus.withRunning { bus in
      let desktop = DesktopNotifications(on: bus, callSeconds: Patience.seconds)
      for isUrgent in [true, false] {
        let (owned, own) = AsyncStream.makeStream(of: Void.self)
        async let call = Self.answerOneCall(on: bus) { own.yield() }
        for await _ in owned { break }
        let number = try await desktop.show(
          title: "A title", body: "5 < 6 & more", isUrgent: isUrgent, replacing: 7)
        #expect(number == 42)
        let message = try await call
        let received = try #require(Received(message))
        #expect(received.replaced == 7 && received.title == "A title")
        #expect(received.body == "5 &lt; 6 &amp; more" && received.urgency == (isUrgent ? 2 : 1))
      }
      let (owned, own) = AsyncStream.makeStream(of: Void.self)
      async let call = Self.answerOneCall(on: bus) { own.yield() }
      for await _ in owned { break }
      try await desktop.close(42)
      let message = try await call
      #expect(message.body == [.uint32(42)])
    }
  }

  @Test(
    "Without a notification service, showing a notice fails with the error of the bus",
    .needs(.process))
  func noService() async throws {
    try await MessageBus.withRunning { bus in
      await #expect(throws: DBusError.failed("org.freedesktop.DBus.Error.ServiceUnknown")) {
        try await DesktopNotifications(on: bus, callSeconds: Patience.seconds).show(
          title: "", body: "", isUrgent: false)
      }
    }
  }

  @Test("Without a bus, or with one that refuses this user or sends malformed data, showing fails")
  func noBus() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("bus").path
    let bus = try #require(DBusAddress("unix:path=\(path)"))
    await #expect(throws: UnixSocketError.noListener) {
      try await DesktopNotifications(on: bus, callSeconds: Patience.seconds).show(
        title: "", body: "", isUrgent: false)
    }
    let scripts: [(String, DBusError)] = [
      ("REJECTED EXTERNAL\r\n", .refused),
      ("OK 1234\r\n" + String(repeating: "B", count: 16), .malformed),
      (String(repeating: "x", count: 2_000), .malformed),
    ]
    let listener = try UnixListener(at: path)
    defer { listener.stop() }
    var connections = listener.connections.makeAsyncIterator()
    for (script, error) in scripts {
      let showing = Task {
        try await DesktopNotifications(on: bus, callSeconds: Patience.seconds).show(
          title: "", body: "", isUrgent: false)
      }
      let connection = try #require(await connections.next())
      try connection.send(Array(script.utf8), before: Self.patience)
      await #expect(throws: error) { try await showing.value }
    }
  }

  @Test("The bytes of a message are those of the specification")
  func bytes() throws {
    let hello = DBusMessage.call(
      "Hello", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus",
      of: "org.freedesktop.DBus", serial: 1)
    let bytes = hello.bytes
    // The same call as `dbus-send` writes it: 16 bytes, 109 bytes of fields, padding to 128.
    #expect(bytes.prefix(16) == [0x6c, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0x6d, 0, 0, 0])
    #expect(bytes.count == 128)
    #expect(try DBusMessage.remainingByteCount(after: Array(bytes.prefix(16))) == 112)
    #expect(try DBusMessage(parsing: bytes) == hello)
  }

  @Test("A message that is cut off or changed anywhere is refused or read, and never crashes")
  func damaged() throws {
    let message = DBusMessage(
      .reply, serial: 9, fields: [.replySerial: .uint32(3)],
      body: [
        .uint32(5), .string("text"),
        .array("{sv}", [.entry(.string("a"), .variant(.byte(1)))]), .int32(-1),
      ])
    let bytes = message.bytes
    #expect(try DBusMessage(parsing: bytes) == message)
    for count in 0..<bytes.count {
      #expect(throws: DBusError.malformed) { try DBusMessage(parsing: Array(bytes.prefix(count))) }
    }
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << UInt8(bit)
        _ = try? DBusMessage(parsing: changed)
      }
    }
  }

  @Test(
    "An empty structure is malformed, also as the element of an array",
    .timeLimit(.minutes(Patience.minutes)))
  func emptyStructure() {
    let bytes: [UInt8] = [8, 0, 0, 0] + [UInt8](repeating: 0, count: 12)
    for type in ["()", "a()", "a{}", "aa()"] {
      var reader = DBusReader(bytes, at: 0)
      #expect(throws: DBusError.malformed) { try reader.value(type) }
    }
  }

  @Test(
    "The address of the bus is parsed in all its forms",
    arguments: [
      ("unix:path=/run/user/1/bus", UnixAddress.file("/run/user/1/bus")),
      ("unix:guid=ab,path=/a%20b", .file("/a b")),
      ("tcp:host=x;unix:abstract=/tmp/x,guid=1", .abstract(Array("/tmp/x".utf8))),
    ])
  func address(_ text: String, _ expected: UnixAddress) {
    #expect(DBusAddress(text)?.socket == expected)
  }

  @Test("An address without a Unix socket is rejected", arguments: ["", "tcp:host=x", "unix:"])
  func otherAddress(_ text: String) {
    #expect(DBusAddress(text) == nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TestSupport
import Testing
import UserNotifications
import World

@testable import DesktopNotifications

@Suite(
  "An app's notifications on the desktop", .needs(.process), .timeLimit(.minutes(Patience.minutes)))
struct DesktopNotificationSinkTests {
  /// An app whose delegate notes every response.
  private final class App: UNUserNotificationCenterDelegate {
    let responses: AsyncStream<String>
    private let response: AsyncStream<String>.Continuation

    init() {
      (responses, response) = AsyncStream.makeStream()
    }

    func userNotificationCenter(
      _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
      withCompletionHandler completionHandler: @escaping () -> Void
    ) {
      let text = (response as? UNTextInputNotificationResponse)?.userText ?? ""
      self.response.yield(
        "\(response.notification.request.identifier) \(response.actionIdentifier) \(text)")
      completionHandler()
    }
  }

  private let center = UNUserNotificationCenter()
  private let clock = ManualClock(Date(timeIntervalSince1970: 1_592_222_400))
  private let log = CollectedLog()

  private func install(on bus: DBusAddress) async throws -> DesktopNotificationSink {
    let sink = DesktopNotificationSink(
      on: bus, callSeconds: Patience.seconds, appName: "App", allowedOptions: nil, center: center,
      clock: clock, logger: log.logger, ask: { $0 })
    center.install(sink)
    #expect(sink.allowedOptions == nil)
    #expect(try await center.requestAuthorization(options: [.alert, .sound]))
    return sink
  }

  private func request(
    _ identifier: String, trigger: UNNotificationTrigger? = nil
  ) -> UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = "Title"
    content.body = "1 < 2"
    content.sound = .default
    content.categoryIdentifier = "question"
    return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
  }

  private func registerQuestion() {
    let reply = UNTextInputNotificationAction(
      identifier: "reply", title: "Reply", options: [], textInputButtonTitle: "Send",
      textInputPlaceholder: "Text")
    let open = UNNotificationAction(identifier: "open", title: "Open", options: .foreground)
    center.setNotificationCategories([
      UNNotificationCategory(
        identifier: "question", actions: [reply, open], intentIdentifiers: [],
        options: .customDismissAction)
    ])
  }

  private static func next(of responses: AsyncStream<String>) async -> String? {
    for await response in responses { return response }
    return nil
  }

  /// Runs `work` while `desktop` answers `count` calls, and returns these.
  private func calls(
    to desktop: TestDesktop, count: Int, during work: () async throws -> Void
  ) async throws -> [DBusMessage] {
    let (ready, signal) = AsyncStream.makeStream(of: Void.self)
    async let calls = desktop.answer(count) { signal.yield() }
    for await _ in ready { break }
    try await work()
    return try await calls
  }

  @Test("A tap, an action, a text and a dismissal on the desktop reach the app's delegate once")
  func responses() async throws {
    try await MessageBus.withRunning { bus in
      let (app, sink) = (App(), try await install(on: bus))
      center.delegate = app
      registerQuestion()
      var desktop = TestDesktop(bus: bus)
      desktop.signals = { number in
        let closed = TestDesktop.signal("NotificationClosed", [.uint32(number), .uint32(2)])
        let key = ["default", "1", "unknown"][Int(number) % 3]
        switch number {
        case 3...4:
          return [TestDesktop.signal("ActionInvoked", [.uint32(number), .string(key)]), closed]
        case 1:
          return [
            TestDesktop.signal("NotificationReplied", [.uint32(1), .string("Fine")]), closed,
          ]
        default: return [closed]
        }
      }
      let responses = app.responses
      let expected = [
        "1 reply Fine", "2 \(UNNotificationDismissActionIdentifier) ",
        "3 \(UNNotificationDefaultActionIdentifier) ", "4 open ",
      ]
      let calls = try await calls(to: desktop, count: 8) {
        for (index, response) in expected.enumerated() {
          if index == 2 { #expect(!sink.isAppInForeground) }
          if index == 3 { sink.isAppInForeground = false }
          try await center.add(request("\(index + 1)"))
          let received = await Self.next(of: responses)
          #expect(received == response)
        }
      }
      #expect(sink.isAppInForeground)
      #expect(
        calls.map(\.member)
          == Array(repeating: ["Notify", "CloseNotification"], count: 4).flatMap { $0 })
      #expect(
        calls[0].body[5]
          == .array("s", ["default", "", "inline-reply", "Reply", "1", "Open"].map { .string($0) }))
      #expect(await center.deliveredNotifications().isEmpty)
      withExtendedLifetime((app, sink)) {}
    }
  }

  @Test("Signals of other programs, and of other numbers and keys, are ignored")
  func forged() async throws {
    try await MessageBus.withRunning { bus in
      let (app, sink) = (App(), try await install(on: bus))
      center.delegate = app
      registerQuestion()
      var desktop = TestDesktop(bus: bus)
      desktop.forgedSignals = {
        [TestDesktop.signal("ActionInvoked", [.uint32($0), .string("1")])]
      }
      desktop.signals = { number in
        [
          TestDesktop.signal("ActionInvoked", [.uint32(number + 1), .string("1")]),
          TestDesktop.signal("ActionInvoked", [.uint32(number), .string("7")]),
          TestDesktop.signal("ActivationToken", [.uint32(number), .string("token")]),
          TestDesktop.signal("NotificationClosed", [.uint32(number), .uint32(1)]),
          TestDesktop.signal("ActionInvoked", [.uint32(number), .string("default")]),
        ]
      }
      let responses = app.responses
      _ = try await calls(to: desktop, count: 2) {
        try await center.add(request("a"))
        let received = await Self.next(of: responses)
        #expect(received == "a \(UNNotificationDefaultActionIdentifier) ")
      }
      withExtendedLifetime((app, sink)) {}
    }
  }

  @Test("A notification replaces the one with its identifier, and the app's removal closes it")
  func replaced() async throws {
    try await MessageBus.withRunning { bus in
      let sink = try await install(on: bus)
      let calls = try await calls(to: TestDesktop(bus: bus), count: 3) {
        try await center.add(request("a"))
        try await center.add(request("a"))
        center.removeDeliveredNotifications(withIdentifiers: ["a", "unknown"])
      }
      #expect(calls.map(\.member) == ["Notify", "Notify", "CloseNotification"])
      #expect(calls[0].body[1] == .uint32(0) && calls[1].body[1] == .uint32(1))
      #expect(calls[2].body == [.uint32(2)])
      withExtendedLifetime(sink) {}
    }
  }

  @Test("After a restart of the service, a response reaches the later notification with its ID")
  func restartedService() async throws {
    try await MessageBus.withRunning { bus in
      let (app, sink) = (App(), try await install(on: bus))
      center.delegate = app
      _ = try await calls(to: TestDesktop(bus: bus), count: 1) {
        try await center.add(request("earlier"))
      }
      var restarted = TestDesktop(bus: bus)
      restarted.signals = { id in
        [TestDesktop.signal("ActionInvoked", [.uint32(id), .string("default")])]
      }
      let responses = app.responses
      let calls = try await calls(to: restarted, count: 2) {
        try await center.add(request("later"))
        let received = await Self.next(of: responses)
        #expect(received == "later \(UNNotificationDefaultActionIdentifier) ")
      }
      #expect(calls.map(\.member) == ["Notify", "CloseNotification"])
      center.removeDeliveredNotifications(withIdentifiers: ["earlier"])
      withExtendedLifetime((app, sink)) {}
    }
  }

  @Test("A pending notification is shown when it is due")
  func due() async throws {
    try await MessageBus.withRunning { bus in
      let sink = try await install(on: bus)
      let calls = try await calls(to: TestDesktop(bus: bus), count: 2) {
        for (identifier, seconds) in [("late", 120.0), ("soon", 60.0)] {
          let trigger = UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: false)
          try await center.add(request(identifier, trigger: trigger))
        }
        for _ in 0..<2 {
          try await Patience.until { clock.sleeperCount == 1 }
          let pending = await center.pendingNotificationRequests().count
          clock.advance(by: 60)
          try await Patience.until { await center.pendingNotificationRequests().count < pending }
        }
      }
      #expect(calls.map(\.member) == ["Notify", "Notify"])
      let delivered = await center.deliveredNotifications()
      #expect(delivered.map(\.request.identifier) == ["soon", "late"])
      withExtendedLifetime(sink) {}
    }
  }

  @Test("After a desktop that cannot be reached, the next notification connects again")
  func reconnected() async throws {
    let folder = try TemporaryFolder()
    let bus = try #require(DBusAddress("unix:path=\(folder.path("bus").path)"))
    let sink = try await install(on: bus)
    try await center.add(request("lost"))
    try await Patience.until { !log.lines.isEmpty }
    #expect(log.lines.first?.contains("tried again at the next notification") == true)
    try await MessageBus.withRunning(in: folder) { bus in
      let calls = try await calls(to: TestDesktop(bus: bus), count: 1) {
        try await center.add(request("shown"))
      }
      #expect(calls.map(\.member) == ["Notify"])
    }
    withExtendedLifetime(sink) {}
  }

  @Test("The address of the bus must have a Unix domain socket")
  func address() {
    #expect(
      DesktopNotificationSink(
        busAddress: "tcp:host=x", appName: "App", allowedOptions: nil, center: center, ask: { $0 })
        == nil)
    #expect(
      DesktopNotificationSink(
        busAddress: "unix:path=/tmp/bus", appName: "App", allowedOptions: [.alert], center: center,
        ask: { $0 })?.allowedOptions == [.alert])
  }
}

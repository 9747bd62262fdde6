// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import UserNotifications

@testable import DesktopNotifications

@Suite("The form of an app's notification for the desktop")
struct DesktopNotificationTests {
  /// A sink that keeps the last notice.
  private final class LastNotice: UserNotificationSink {
    private let last = Mutex<UserNotice?>(nil)
    var notice: UserNotice? { last.withLock { $0 } }
    var now: Date { Date(timeIntervalSince1970: 0) }
    var isAppInForeground: Bool { false }
    var allowedOptions: UNAuthorizationOptions? { .alert }
    func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions { options }

    func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions) {
      last.withLock { $0 = notice }
    }

    func remove(_ identifiers: [String]) {}
    func pendingNoticesChanged(_ pending: [UserNotice]) {}
  }

  private static let all: UNNotificationPresentationOptions = [.banner, .list, .sound]

  /// The arguments for a notification with an action for text and one without.
  private func arguments(
    capabilities: Set<String> = [], options: UNNotificationPresentationOptions = all,
    _ change: (UNMutableNotificationContent) throws -> Void = { _ in }
  ) async throws -> [DBusValue] {
    let (center, sink) = (UNUserNotificationCenter(), LastNotice())
    center.install(sink)
    let field = UNTextInputNotificationAction(
      identifier: "reply", title: "Reply", options: [], textInputButtonTitle: "Send",
      textInputPlaceholder: "Text")
    center.setNotificationCategories([
      UNNotificationCategory(
        identifier: "question",
        actions: [field, UNNotificationAction(identifier: "default", title: "Open", options: [])],
        intentIdentifiers: [])
    ])
    let content = UNMutableNotificationContent()
    (content.title, content.subtitle, content.body) = ("Title", "Subtitle", "1 < 2")
    content.categoryIdentifier = "question"
    try change(content)
    try await center.add(
      UNNotificationRequest(identifier: "a", content: content, trigger: nil))
    let notice = try #require(sink.notice)
    return DesktopNotification(notice, options: options, capabilities: capabilities).arguments(
      appName: "App", replacing: 5)
  }

  private func strings(_ texts: [String]) -> DBusValue { .array("s", texts.map { .string($0) }) }

  private func hint(_ name: String, in arguments: [DBusValue]) -> DBusValue? {
    guard case .array(_, let hints) = arguments[6] else { return nil }
    for case .entry(.string(name), .variant(let value)) in hints { return value }
    return nil
  }

  @Test("The text is markup only for a service that reads markup")
  func text() async throws {
    let plain = try await arguments()
    #expect(plain[0] == .string("App") && plain[1] == .uint32(5) && plain[3] == .string("Title"))
    #expect(plain[4] == .string("Subtitle\n1 < 2") && plain[7] == .int32(-1))
    #expect(plain.map(\.signature).joined() == "susssasa{sv}i")
    let markup = try await arguments(capabilities: ["body-markup"])
    #expect(markup[4] == .string("Subtitle\n1 &lt; 2"))
  }

  @Test("The actions are those that the service supports")
  func actions() async throws {
    #expect(try await arguments()[5] == strings([]))
    let buttons = try await arguments(capabilities: ["actions"])
    #expect(buttons[5] == strings(["default", "", "1", "Open"]))
    #expect(hint("x-kde-reply-placeholder-text", in: buttons) == nil)
    let field = try await arguments(capabilities: ["actions", "inline-reply"])
    #expect(field[5] == strings(["default", "", "inline-reply", "Reply", "1", "Open"]))
    #expect(hint("x-kde-reply-placeholder-text", in: field) == .string("Text"))
    #expect(hint("x-kde-reply-submit-button-text", in: field) == .string("Send"))
  }

  @Test("The urgency follows the importance, and is low without a banner")
  func urgency() async throws {
    let levels: [UNNotificationInterruptionLevel] = [.passive, .active, .timeSensitive, .critical]
    for (level, urgency) in zip(levels, [0, 1, 1, 2] as [UInt8]) {
      let arguments = try await arguments { $0.interruptionLevel = level }
      #expect(hint("urgency", in: arguments) == .byte(urgency))
    }
    #expect(hint("urgency", in: try await arguments(options: .list)) == .byte(0))
  }

  @Test("A sound plays if the content has one and the app presents it")
  func sound() async throws {
    #expect(hint("suppress-sound", in: try await arguments()) == .boolean(true))
    let loud = try await arguments { $0.sound = .default }
    #expect(hint("suppress-sound", in: loud) == nil)
    let quiet = try await arguments(options: .banner) { $0.sound = .default }
    #expect(hint("suppress-sound", in: quiet) == .boolean(true))
  }

  @Test("The first picture is shown")
  func picture() async throws {
    let folder = try TemporaryFolder()
    let urls = ["a.wav", "b.png", "c.png"].map(folder.path)
    for url in urls { try Data([1]).write(to: url) }
    let arguments = try await arguments { content in
      content.attachments = try urls.map {
        try UNNotificationAttachment(identifier: "", url: $0, options: nil)
      }
    }
    #expect(hint("image-path", in: arguments) == .string(urls[1].path))
  }
}

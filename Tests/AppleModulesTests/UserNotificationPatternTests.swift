// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UserNotifications

/// Runs the patterns of notifications on the center of the process.
@Suite("What apps write against UserNotifications", .serialized)
final class UserNotificationPatternTests {
  private let center = UNUserNotificationCenter.current()
  private let screen = TestScreen.installed

  init() async throws {
    screen.isAppInForeground = false
    _ = try await center.requestAuthorization(
      options: SettingsOpener.options.union([.badge, .criticalAlert]))
    center.removeAllPendingNotificationRequests()
    center.removeAllDeliveredNotifications()
    center.delegate = nil
  }

  private func request(_ identifier: String, _ content: UNNotificationContent)
    -> UNNotificationRequest
  {
    UNNotificationRequest(identifier: identifier, content: content, trigger: nil)
  }

  /// Returns after the delegate's calls that are queued now.
  private func mainQueue() async {
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
  }

  @Test(
    "In the foreground the delegate presents a notification, and then receives its response once")
  func responses() async throws {
    let handler = ResponseHandler()
    center.delegate = handler
    screen.isAppInForeground = true
    ReminderActions.register(in: center)
    let answers: [(String, String, String?)] = [
      ("a", UNNotificationDefaultActionIdentifier, nil), (("b"), ReminderActions.later, nil),
      ("c", "answer", "Fine"), ("d", UNNotificationDismissActionIdentifier, nil),
    ]
    for (identifier, action, text) in answers {
      try await center.add(request(identifier, reminderContent(page: "result", count: 2)))
      await mainQueue()
      #expect(center.respond(to: identifier, with: action, text: text))
      await mainQueue()
    }
    #expect(
      handler.events == [
        "present a", "open result", "present b", "later reminders", "present c", "answer Fine",
        "present d", "dismiss reminder",
      ])
  }

  @Test("A delegate with async methods decides by category, and nothing else is shown")
  func asyncDelegate() async throws {
    let scene = ForegroundScene()
    scene.start(in: center)
    screen.isAppInForeground = true
    let silent = UNMutableNotificationContent()
    silent.title = "Silent"
    silent.categoryIdentifier = "silent"
    try await center.add(request("silent", silent))
    try await center.add(request("loud", reminderContent(page: "", count: 1)))
    await Patience.yielding { scene.presented.count == 2 && !screen.shown.isEmpty }
    #expect(screen.shown.map(\.identifier) == ["loud"])
  }

  @Test("The system opens the app's own settings")
  func settings() async throws {
    let opener = SettingsOpener()
    center.delegate = opener
    try await center.add(request("a", reminderContent(page: "", count: 1)))
    #expect(center.openSettings(from: "a") && center.openSettings())
    await mainQueue()
    #expect(opener.opened == ["a", nil])
    #expect(await center.notificationSettings().summary == "2 places, style 1")
  }

  @Test("The center shows the actions of a category, also one with text and one added later")
  func categories() async throws {
    ReminderActions.register(in: center)
    let reply = UNNotificationCategory(
      identifier: "reply", actions: TextReply.all, intentIdentifiers: [])
    await withCheckedContinuation { done in extend(center, with: reply) { done.resume() } }
    let categories = await center.notificationCategories()
    #expect(Set(categories.map(\.identifier)) == ["reminder", "result", "reply"])
    let content = UNMutableNotificationContent()
    content.title = "How are you?"
    content.categoryIdentifier = "reply"
    try await center.add(request("a", reminderContent(page: "", count: 1)))
    try await center.add(request("b", content))
    #expect(
      screen.shown.map { $0.actions.map(\.identifier) } == [
        ["later", "delete", "open"], ["answer", "pictured"],
      ])
    #expect(screen.shown[1].actions[0].textInput?.placeholder == "How are you?")
    #expect(UNNotificationCategory.newExposure.categorySummaryFormat == "%u exposures")
    let delivered = await center.deliveredNotifications()
    #expect(delivered.allSatisfy { !$0.isAboutExposure })
  }

  @Test("A pending request has all labels when it is read back")
  func labels() async throws {
    let content = try #require(
      reminderContent(page: "result", count: 2).mutableCopy() as? UNMutableNotificationContent)
    content.markUrgent()
    content.sound = AlertSound.siren(0.5)
    let trigger = UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true)
    try await center.add(
      UNNotificationRequest(identifier: "a", content: content, trigger: trigger))
    let read = try #require(await center.pendingNotificationRequests().first).content
    #expect(read.title == "reminder" && read.body == "2 new" && read.badge == 2)
    #expect(read.categoryIdentifier == "reminder" && read.threadIdentifier == "reminders")
    #expect(read.userInfo["page"] as? String == "result" && read.userInfo["count"] as? Int == 2)
    #expect(read.launchImageName == "Launch" && read.summaryArgument == "health office")
    #expect(read.summaryArgumentCount == 2 && read.targetContentIdentifier == "result")
    #expect(read.interruptionLevel == .timeSensitive && read.relevanceScore == 1)
    #expect(read.sound == AlertSound.siren(0.5) && read.sound != AlertSound.system.sound)
    #expect(AlertSound.critical(volume: nil).sound != AlertSound.critical(volume: 1).sound)
  }

  @Test("Triggers have a next date, except for a date in the past")
  func dates() async throws {
    let now = Date()
    let later = CalendarReminder.once(at: now.addingTimeInterval(3_600), identifier: "later")
    let past = CalendarReminder.once(at: now.addingTimeInterval(-3_600), identifier: "past")
    let daily = CalendarReminder.daily(hour: 8, minute: 30)
    for request in [later, past, daily] { try await center.add(request) }
    let pending = await center.pendingNotificationRequests()
    let dates = Dictionary(uniqueKeysWithValues: pending.map { ($0.identifier, $0.nextDate) })
    let date = try #require(dates["later"] ?? nil)
    #expect(abs(date.timeIntervalSince(now) - 3_600) < 1)
    #expect(dates["past"] == .some(nil))
    let morning = try #require(dates["daily"] ?? nil)
    let parts = Calendar.current.dateComponents([.hour, .minute, .second], from: morning)
    #expect(parts.hour == 8 && parts.minute == 30 && parts.second == 0 && morning > now)
    let count = await withCheckedContinuation { done in
      cancel(prefix: "da", in: center) { done.resume(returning: $0) }
    }
    #expect(count == 1)
    #expect(await center.pendingNotificationRequests().map(\.identifier) == ["later", "past"])
  }

  @Test("A file without an import of Foundation schedules a notification")
  func delayed() async throws {
    let date = await withCheckedContinuation { done in
      DelayedNotice(text: "Text", identifier: "a").schedule { done.resume(returning: $0) }
    }
    let pending = try #require(await center.pendingNotificationRequests().first)
    let next = try #require(pending.nextDate)
    #expect(next > date && pending.content.body == "Text")
  }

  @Test("A picture is attached, or the reason is named")
  func attachments() throws {
    let folder = FileManager.default.temporaryDirectory
    let url = folder.appendingPathComponent("firebreak-picture-\(UUID().uuidString)")
    let content = UNMutableNotificationContent()
    add(picture: url, to: content)
    #expect(content.attachments.isEmpty && content.subtitle == "no picture")
    try Data([0xff, 0xd8]).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    add(picture: url, to: content)
    #expect(content.attachments.map(\.type) == ["public.jpeg"])
  }

  @Test("A service extension changes the content before or when its time is over")
  func serviceExtension() {
    for isWaiting in [false, true] {
      let content = UNMutableNotificationContent()
      content.body = "News"
      if isWaiting { content.userInfo["wait"] = true }
      var received: [String] = []
      let service = PushExtension()
      service.didReceive(request("push", content)) { received.append($0.body) }
      #expect(received.isEmpty == isWaiting)
      service.serviceExtensionTimeWillExpire()
      #expect(received == ["News (checked)"] && content.body == "News")
    }
  }

  @Test("The center is an object with a badge")
  func object() async throws {
    let seen = SeenObjects()
    #expect(seen.insert(center) && !seen.insert(UNUserNotificationCenter.current()))
    try await clearBadge(of: center)
    let isShown = await withCheckedContinuation { done in
      showBadge(3) { done.resume(returning: $0 == nil) }
    }
    #expect(isShown && screen.badges.suffix(2) == [0, 3])
  }

  @Test("Errors are recognized by their code")
  func errors() async throws {
    let text = await withCheckedContinuation { done in
      showBadge(-1) { done.resume(returning: $0.map(explanation)) }
    }
    #expect(text == "badge" && explanation(of: CocoaError(.fileNoSuchFile)) == "unknown")
    #expect(explanation(of: UNError(.attachmentCorrupt)) == "UNErrorDomain 105 0")
    let summary = await withCheckedContinuation { done in
      readSummary { done.resume(returning: $0) }
    }
    #expect(summary.hasPrefix("2 places"))
  }
}

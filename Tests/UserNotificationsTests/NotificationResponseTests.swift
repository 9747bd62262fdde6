// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import UserNotifications

@Suite("Categories, responses and what the sink receives")
struct NotificationResponseTests {
  private let center = UNUserNotificationCenter()
  private let sink = TestNotificationSink(
    decision: [.alert, .badge, .providesAppNotificationSettings])

  private func authorize(_ options: UNAuthorizationOptions = [.alert, .badge]) async throws {
    center.install(sink)
    _ = try await center.requestAuthorization(options: options)
  }

  private func request(
    _ identifier: String, category: String = "", trigger: UNNotificationTrigger? = nil
  ) -> UNNotificationRequest {
    let content = UNNotificationContentTests.full()
    content.categoryIdentifier = category
    return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
  }

  private func category(
    _ identifier: String, _ actions: [UNNotificationAction],
    options: UNNotificationCategoryOptions = []
  ) -> UNNotificationCategory {
    UNNotificationCategory(
      identifier: identifier, actions: actions, intentIdentifiers: [], options: options)
  }

  @Test("The actions of a notification are those of its category when it is shown")
  func actions() async throws {
    try await authorize()
    let later = UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true)
    try await center.add(request("a", category: "reminder", trigger: later))
    let reply = UNTextInputNotificationAction(
      identifier: "reply", title: "Reply", options: .authenticationRequired,
      icon: UNNotificationActionIcon(systemImageName: "pen"), textInputButtonTitle: "Send",
      textInputPlaceholder: "Text")
    #expect(center.deliver("a"))
    center.setNotificationCategories([category("reminder", [reply]), category("other", [])])
    #expect(center.deliver("a"))
    center.setNotificationCategories([category("other", [reply])])
    #expect(center.deliver("a"))
    let shown = sink.shown.map(\.notice.actions)
    #expect(shown.map(\.count) == [0, 1, 0])
    let action = try #require(shown[1].first)
    #expect(action.identifier == "reply" && action.title == "Reply" && action.iconName == "pen")
    #expect(action.options == .authenticationRequired)
    #expect(action.textInput?.buttonTitle == "Send" && action.textInput?.placeholder == "Text")
    #expect(await center.notificationCategories().map(\.identifier) == ["other"])
    let same = await withCheckedContinuation { done in
      center.getNotificationCategories { done.resume(returning: $0.count) }
    }
    #expect(same == 1)
  }

  @Test("A notification has at most ten actions", arguments: [9, 10, 11])
  func actionLimit(_ count: Int) async throws {
    try await authorize()
    let actions = (0..<count).map { UNNotificationAction(identifier: "\($0)", title: "") }
    center.setNotificationCategories([category("many", actions)])
    try await center.add(request("a", category: "many"))
    let expected = (0..<min(count, 10)).map(String.init)
    #expect(sink.shown.first?.notice.actions.map(\.identifier) == expected)
  }

  @Test("The delegate receives taps, actions, texts, and dismissals of a category that wants them")
  func responses() async throws {
    let app = ForegroundApp(shows: [])
    center.delegate = app
    try await authorize()
    center.setNotificationCategories([
      category("quiet", []), category("told", [], options: .customDismissAction),
    ])
    for (identifier, name) in [("a", "quiet"), ("b", "told"), ("c", "told"), ("d", ""), ("e", "")] {
      try await center.add(request(identifier, category: name))
    }
    #expect(center.respond(to: "a", with: UNNotificationDismissActionIdentifier))
    #expect(center.respond(to: "b", with: UNNotificationDismissActionIdentifier))
    #expect(center.respond(to: "c", with: "later"))
    #expect(center.respond(to: "d", with: "reply", text: "Hello"))
    #expect(center.respond(to: "e"))
    #expect(center.respond(to: "e") == false && center.respond(to: "unknown") == false)
    var calls = app.calls.makeAsyncIterator()
    #expect(await calls.next() == "\(UNNotificationDismissActionIdentifier) b")
    #expect(await calls.next() == "later c")
    #expect(await calls.next() == "reply d Hello")
    #expect(await calls.next() == "\(UNNotificationDefaultActionIdentifier) e")
    #expect(await center.deliveredNotifications().isEmpty)
    #expect(sink.removed == ["a", "b", "c", "d", "e"])
  }

  @Test("The app's settings open if the app has requested them")
  func settings() async throws {
    let app = ForegroundApp(shows: [])
    center.delegate = app
    try await authorize()
    #expect(center.openSettings() == false)
    #expect(await center.notificationSettings().providesAppNotificationSettings == false)
    _ = try await center.requestAuthorization(options: [.providesAppNotificationSettings])
    #expect(await center.notificationSettings().providesAppNotificationSettings)
    try await center.add(request("a"))
    #expect(center.openSettings(from: "unknown") == false)
    #expect(center.openSettings(from: "a") && center.openSettings())
    var calls = app.calls.makeAsyncIterator()
    #expect(await calls.next() == "settings a")
    #expect(await calls.next() == "settings of the system")
  }

  @Test("A pending request that is read back has all values, and its own class of trigger")
  func readBack() async throws {
    try await authorize()
    let daily = UNCalendarNotificationTrigger(
      dateMatching: DateComponents(hour: 8, minute: 0), repeats: true)
    let request = request("a", category: "reminder", trigger: daily)
    try await center.add(request)
    let pending = try #require(await center.pendingNotificationRequests().first)
    #expect(pending == request && pending.content == request.content)
    #expect(pending.content.userInfo["page"] as? String == "result")
    #expect(pending.trigger is UNCalendarNotificationTrigger)
    let notice = try #require(sink.pending.first)
    #expect(notice.dateComponents?.hour == 8 && notice.repeats && notice.delay == nil)
    let next = try #require(notice.due)
    #expect(Calendar.current.component(.hour, from: next) == 8 && next > sink.now)
    sink.now = next
    #expect(center.deliver("a"))
    let second = try #require(sink.pending.first?.due)
    #expect(Calendar.current.component(.hour, from: second) == 8)
    #expect(second > next.addingTimeInterval(22 * 3_600))
    #expect(await center.deliveredNotifications().first?.request == request)
  }

  @Test("A delay begins again if the request is added again, and when a repeating one is delivered")
  func delays() async throws {
    try await authorize()
    let start = sink.now
    for seconds in [0.0, 10.0] {
      sink.now = start.addingTimeInterval(seconds)
      let trigger = UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true)
      try await center.add(request("a", trigger: trigger))
      #expect(sink.pending.map(\.due) == [start.addingTimeInterval(seconds + 60)])
    }
    sink.now = start.addingTimeInterval(70)
    #expect(center.deliver("a"))
    #expect(sink.pending.map(\.due) == [start.addingTimeInterval(130)])
  }

  @Test("A request without a next date is accepted and never due")
  func never() async throws {
    try await authorize()
    let past = UNCalendarNotificationTrigger(
      dateMatching: DateComponents(year: 2000, month: 1, day: 1), repeats: false)
    try await center.add(request("a", trigger: past))
    #expect(sink.pending.count == 1 && sink.pending.first?.due == nil && sink.shown.isEmpty)
  }

  @Test("Of more than 64 pending notifications the soonest stay", arguments: [63, 64, 65])
  func pendingLimit(_ count: Int) async throws {
    try await authorize()
    for index in 0..<count {
      let trigger = UNTimeIntervalNotificationTrigger(
        timeInterval: Double(1_000 - index), repeats: false)
      try await center.add(request("\(index)", trigger: trigger))
    }
    let first = count > 64 ? "1" : "0"
    #expect(sink.pending.first?.identifier == first && sink.pending.count == min(count, 64))
  }

  @Test("The sink receives the values of the content; a critical notification has a critical sound")
  func notice() async throws {
    try await authorize()
    try await center.add(request("a", category: "reminder"))
    let content = UNMutableNotificationContent()
    content.title = "Now"
    content.interruptionLevel = .critical
    try await center.add(UNNotificationRequest(identifier: "b", content: content, trigger: nil))
    let notices = sink.shown.map(\.notice)
    let notice = notices[0]
    #expect(notice.categoryIdentifier == "reminder" && notice.threadIdentifier == "exposures")
    #expect(notice.targetContentIdentifier == "result" && notice.relevanceScore == 0.8)
    #expect(notice.interruptionLevel == .timeSensitive && notice.attachments.isEmpty)
    #expect(notice.sound?.name == "bell" && notice.sound?.isCritical == true)
    #expect(notice.sound?.volume == 0.5)
    #expect(notices[1].sound?.isCritical == true && notices[1].sound?.name == nil)
  }

  @Test("Provisional notifications come to the list only, and their settings say so")
  func provisional() async throws {
    let quiet = TestNotificationSink(decision: [.alert, .sound, .provisional])
    center.install(quiet)
    #expect(try await center.requestAuthorization(options: [.alert, .sound, .provisional]))
    try await center.add(request("a"))
    #expect(quiet.shown.map(\.options) == [.list])
    let settings = await center.notificationSettings()
    #expect(settings.authorizationStatus == .provisional && settings.alertStyle == .none)
    #expect(settings.soundSetting == .disabled && settings.lockScreenSetting == .disabled)
    #expect(settings.notificationCenterSetting == .enabled)
  }

  @Test("Settings follow the allowed options")
  func settingsOfOptions() async throws {
    let all = TestNotificationSink(decision: [.alert, .criticalAlert])
    center.install(all)
    _ = try await center.requestAuthorization(options: [.alert, .criticalAlert, .carPlay])
    let settings = await center.notificationSettings()
    #expect(settings.alertStyle == .banner && settings.lockScreenSetting == .enabled)
    #expect(settings.criticalAlertSetting == .enabled && settings.carPlaySetting == .notSupported)
    #expect(settings.showPreviewsSetting == .always && settings.soundSetting == .disabled)
    #expect(settings.scheduledDeliverySetting == .notSupported)
  }

  @Test("A badge of 0 or more reaches the sink, a negative one fails")
  func badge() async throws {
    await #expect(throws: UNError(.notificationsNotAllowed)) { try await center.setBadgeCount(1) }
    try await authorize()
    try await center.setBadgeCount(0)
    let error = await withCheckedContinuation { done in
      center.setBadgeCount(2) { done.resume(returning: $0 == nil) }
    }
    #expect(error && sink.badges == [0, 2])
    await #expect(throws: UNError(.badgeInputInvalid)) { try await center.setBadgeCount(-1) }
  }

  @Test("The center is an object, and each process has one")
  func object() {
    let object: NSObject = UNUserNotificationCenter.current()
    #expect(object.isEqual(UNUserNotificationCenter.current()) && !object.isEqual(center))
    #expect(!center.supportsContentExtensions)
  }

  @Test("The base class of a service extension passes the content on")
  func serviceExtension() {
    var received: UNNotificationContent?
    let request = request("a")
    let plain = UNNotificationServiceExtension()
    plain.didReceive(request) { received = $0 }
    plain.serviceExtensionTimeWillExpire()
    #expect(received == request.content)
  }
}

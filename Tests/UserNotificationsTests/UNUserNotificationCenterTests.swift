// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import UserNotifications

@Suite("User notifications")
struct UNUserNotificationCenterTests {
  private let center = UNUserNotificationCenter()

  private func request(
    _ identifier: String = "bluetooth-off", trigger: UNNotificationTrigger? = nil
  ) -> UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = "Bluetooth is off"
    content.body = "Switch it on"
    content.sound = .default
    content.badge = 1
    return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
  }

  @Test("The user is asked once, and a notification is shown until the app removes it")
  func story() async throws {
    let sink = TestNotificationSink()
    center.install(sink)
    #expect(await center.notificationSettings().authorizationStatus == .notDetermined)
    #expect(try await center.requestAuthorization(options: [.alert, .sound, .badge]))
    #expect(try await center.requestAuthorization(options: [.alert]))
    #expect(sink.requestCount == 1)
    let settings = await center.notificationSettings()
    #expect(settings.authorizationStatus == .authorized)
    #expect(settings.alertSetting == .enabled && settings.badgeSetting == .disabled)
    try await center.add(request())
    let shown = try #require(sink.shown.first)
    #expect(shown.notice.title == "Bluetooth is off" && shown.notice.hasSound)
    #expect(shown.notice.badge == 1 && shown.options.contains(.banner))
    let delivered = try #require(await center.deliveredNotifications().first)
    #expect(delivered.date == sink.now && delivered.request.content.body == "Switch it on")
    center.removeDeliveredNotifications(withIdentifiers: ["bluetooth-off"])
    #expect(await center.deliveredNotifications().isEmpty)
    #expect(sink.removed == ["bluetooth-off"])
  }

  @Test("Several requests at once ask the user once")
  func oneQuestion() async throws {
    let sink = TestNotificationSink()
    center.install(sink)
    try await withThrowingTaskGroup(of: Bool.self) { [center] group in
      for _ in 0..<8 { group.addTask { try await center.requestAuthorization(options: [.alert]) } }
      for try await isAllowed in group { #expect(isAllowed) }
    }
    #expect(sink.requestCount == 1)
  }

  @Test("After a refusal no notification is shown")
  func denied() async throws {
    let sink = TestNotificationSink(decision: [])
    center.install(sink)
    #expect(try await center.requestAuthorization(options: [.alert]) == false)
    #expect(await center.notificationSettings().authorizationStatus == .denied)
    await #expect(throws: UNError(.notificationsNotAllowed)) { try await center.add(request()) }
    #expect(sink.shown.isEmpty)
  }

  @Test("Without a sink authorization and notifications fail")
  func noSink() async {
    #expect(await center.notificationSettings().authorizationStatus == .denied)
    await #expect(throws: UNError(.notificationsNotAllowed)) {
      try await center.requestAuthorization(options: [.alert])
    }
    let error = await withCheckedContinuation { done in
      center.add(request()) { done.resume(returning: $0 as? UNError) }
    }
    #expect(error?.code == .notificationsNotAllowed)
    #expect((UNError(.notificationsNotAllowed) as NSError).domain == "UNErrorDomain")
  }

  @Test("A notification without content is rejected")
  func empty() async throws {
    center.install(TestNotificationSink())
    _ = try await center.requestAuthorization(options: [.alert])
    let nothing = UNNotificationRequest(
      identifier: "nothing", content: UNMutableNotificationContent(), trigger: nil)
    await #expect(throws: UNError(.notificationInvalidNoContent)) {
      try await center.add(nothing)
    }
  }

  @Test("A pending notification is delivered once unless it was removed")
  func waiting() async throws {
    let sink = TestNotificationSink()
    center.install(sink)
    _ = try await center.requestAuthorization(options: [.alert])
    let later = UNTimeIntervalNotificationTrigger(timeInterval: 3_600, repeats: false)
    try await center.add(request("later", trigger: later))
    try await center.add(request("never", trigger: later))
    #expect(sink.pending.map(\.identifier) == ["later", "never"])
    #expect(sink.pending.first?.delay == 3_600)
    #expect(await center.pendingNotificationRequests().count == 2)
    center.removePendingNotificationRequests(withIdentifiers: ["never"])
    #expect(center.deliver("never") == false)
    #expect(center.deliver("later"))
    #expect(center.deliver("later") == false)
    #expect(sink.shown.map(\.notice.identifier) == ["later"])
    #expect(sink.pending.isEmpty)
  }

  @Test("A repeating notification stays pending until it is removed")
  func repeating() async throws {
    let sink = TestNotificationSink()
    center.install(sink)
    _ = try await center.requestAuthorization(options: [.alert])
    let daily = UNTimeIntervalNotificationTrigger(timeInterval: 86_400, repeats: true)
    try await center.add(request("daily", trigger: daily))
    #expect(center.deliver("daily") && center.deliver("daily"))
    #expect(sink.shown.count == 2)
    center.removeAllPendingNotificationRequests()
    #expect(center.deliver("daily") == false)
  }

  @Test("In the foreground the delegate decides what is shown and receives the user's tap")
  func foreground() async throws {
    let sink = TestNotificationSink()
    let app = ForegroundApp(shows: [.alert, .badge])
    sink.isAppInForeground = true
    center.install(sink)
    center.delegate = app
    _ = try await center.requestAuthorization(options: [.alert])
    try await center.add(request())
    var calls = app.calls.makeAsyncIterator()
    #expect(await calls.next() == "present bluetooth-off")
    #expect(sink.shown.map(\.options) == [[.alert, .badge]])
    #expect(center.respond(to: "bluetooth-off"))
    #expect(
      await calls.next() == "\(UNNotificationDefaultActionIdentifier) bluetooth-off")
    #expect(center.respond(to: "bluetooth-off") == false)
  }

  @Test("A delegate may implement the async forms")
  func awaited() async throws {
    let (sink, app) = (TestNotificationSink(), AwaitingApp())
    center.install(sink)
    center.delegate = app
    _ = try await center.requestAuthorization(options: [.alert])
    try await center.add(request())
    #expect(center.respond(to: "bluetooth-off"))
    var taps = app.taps.makeAsyncIterator()
    let title = await taps.next()
    #expect(title == "Bluetooth is off")
    withExtendedLifetime(app) {}
  }

  @Test("A delegate without options shows nothing")
  func silent() async throws {
    let sink = TestNotificationSink()
    let app = ForegroundApp(shows: [])
    sink.isAppInForeground = true
    center.install(sink)
    center.delegate = app
    _ = try await center.requestAuthorization(options: [.alert])
    try await center.add(request())
    var calls = app.calls.makeAsyncIterator()
    #expect(await calls.next() == "present bluetooth-off")
    #expect(sink.shown.isEmpty)
  }

  @Test("Options and states have Apple's numbers")
  func numbers() {
    let options: [UNAuthorizationOptions] = [.badge, .sound, .alert, .carPlay, .criticalAlert]
    #expect(options.map(\.rawValue) == [1, 2, 4, 8, 16])
    let others: [UNAuthorizationOptions] = [
      .providesAppNotificationSettings, .provisional, .announcement, .timeSensitive,
    ]
    #expect(others.map(\.rawValue) == [32, 64, 128, 256])
    let shown: [UNNotificationPresentationOptions] = [.badge, .sound, .alert, .list, .banner]
    #expect(shown.map(\.rawValue) == [1, 2, 4, 8, 16])
    let states: [UNAuthorizationStatus] = [.notDetermined, .denied, .authorized, .provisional]
    #expect(states.map(\.rawValue) == [0, 1, 2, 3])
    let actions: [UNNotificationActionOptions] = [
      .authenticationRequired, .destructive, .foreground,
    ]
    #expect(actions.map(\.rawValue) == [1, 2, 4])
    let categories: [UNNotificationCategoryOptions] = [
      .customDismissAction, .allowInCarPlay, .hiddenPreviewsShowTitle, .hiddenPreviewsShowSubtitle,
      .allowAnnouncement,
    ]
    #expect(categories.map(\.rawValue) == [1, 2, 4, 8, 16])
    let levels: [UNNotificationInterruptionLevel] = [.passive, .active, .timeSensitive, .critical]
    #expect(levels.map(\.rawValue) == [0, 1, 2, 3])
    let styles: [UNAlertStyle] = [.none, .banner, .alert]
    #expect(styles.map(\.rawValue) == [0, 1, 2])
    let previews: [UNShowPreviewsSetting] = [.always, .whenAuthenticated, .never]
    #expect(previews.map(\.rawValue) == [0, 1, 2])
    #expect(
      UNError.Code.allCases.map(\.rawValue)
        == [1, 100, 101, 102, 103, 104, 105, 1400, 1401, 1500, 1501, 1600])
  }
}

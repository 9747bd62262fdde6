import Foundation
import Testing

@testable import UserNotifications

@Suite("User notifications: said by the app, shown by the program")
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

  @Test("The person is asked once, then sees what the app says until it takes it away")
  func story() async throws {
    let screen = Screen()
    center.install(screen)
    #expect(await center.notificationSettings().authorizationStatus == .notDetermined)
    #expect(try await center.requestAuthorization(options: [.alert, .sound, .badge]))
    #expect(try await center.requestAuthorization(options: [.alert]))
    #expect(screen.questions == 1)
    let settings = await center.notificationSettings()
    #expect(settings.authorizationStatus == .authorized)
    #expect(settings.alertSetting == .enabled && settings.badgeSetting == .disabled)
    try await center.add(request())
    let shown = try #require(screen.shown.first)
    #expect(shown.notice.title == "Bluetooth is off" && shown.notice.hasSound)
    #expect(shown.notice.badge == 1 && shown.options.contains(.banner))
    let delivered = try #require(await center.deliveredNotifications().first)
    #expect(delivered.date == screen.now && delivered.request.content.body == "Switch it on")
    center.removeDeliveredNotifications(withIdentifiers: ["bluetooth-off"])
    #expect(await center.deliveredNotifications().isEmpty)
    #expect(screen.removed == ["bluetooth-off"])
  }

  @Test("After a no nothing is shown, and the error says what to do")
  func denied() async throws {
    let screen = Screen(answer: [])
    center.install(screen)
    #expect(try await center.requestAuthorization(options: [.alert]) == false)
    #expect(await center.notificationSettings().authorizationStatus == .denied)
    await #expect(throws: UNError(.notificationsNotAllowed)) { try await center.add(request()) }
    #expect(screen.shown.isEmpty)
  }

  @Test("Without a sink nobody can be asked or told")
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
    #expect(UNError.Code.allCases.map(\.rawValue) == [1, 1401])
  }

  @Test("A notification that shows nothing is refused")
  func empty() async throws {
    center.install(Screen())
    _ = try await center.requestAuthorization(options: [.alert])
    let nothing = UNNotificationRequest(
      identifier: "nothing", content: UNMutableNotificationContent(), trigger: nil)
    await #expect(throws: UNError(.notificationInvalidNoContent)) {
      try await center.add(nothing)
    }
  }

  @Test("One that waits is shown when the program says so, once, unless it was taken back")
  func waiting() async throws {
    let screen = Screen()
    center.install(screen)
    _ = try await center.requestAuthorization(options: [.alert])
    let later = UNTimeIntervalNotificationTrigger(timeInterval: 3_600, repeats: false)
    try await center.add(request("later", trigger: later))
    try await center.add(request("never", trigger: later))
    #expect(screen.pending.map(\.identifier) == ["later", "never"])
    #expect(screen.pending.first?.delay == 3_600)
    #expect(await center.pendingNotificationRequests().count == 2)
    center.removePendingNotificationRequests(withIdentifiers: ["never"])
    #expect(center.deliver("never") == false)
    #expect(center.deliver("later"))
    #expect(center.deliver("later") == false)
    #expect(screen.shown.map(\.notice.identifier) == ["later"])
    #expect(screen.pending.isEmpty)
  }

  @Test("One that repeats waits on until it is taken back")
  func repeating() async throws {
    let screen = Screen()
    center.install(screen)
    _ = try await center.requestAuthorization(options: [.alert])
    let daily = UNTimeIntervalNotificationTrigger(timeInterval: 86_400, repeats: true)
    try await center.add(request("daily", trigger: daily))
    #expect(center.deliver("daily") && center.deliver("daily"))
    #expect(screen.shown.count == 2)
    center.removeAllPendingNotificationRequests()
    #expect(center.deliver("daily") == false)
  }

  @Test("While the app is in front it decides what is shown, and it learns of a tap")
  func foreground() async throws {
    let screen = Screen()
    let app = ForegroundApp(shows: [.alert, .badge])
    screen.isAppInForeground = true
    center.install(screen)
    center.delegate = app
    _ = try await center.requestAuthorization(options: [.alert])
    try await center.add(request())
    var answers = app.answers.makeAsyncIterator()
    #expect(await answers.next() == "present bluetooth-off")
    #expect(screen.shown.map(\.options) == [[.alert, .badge]])
    #expect(center.respond(to: "bluetooth-off"))
    #expect(
      await answers.next() == "\(UNNotificationDefaultActionIdentifier) bluetooth-off")
    #expect(center.respond(to: "bluetooth-off") == false)
  }

  @Test("A delegate may await instead of calling a handler")
  func awaited() async throws {
    let (screen, app) = (Screen(), AwaitingApp())
    center.install(screen)
    center.delegate = app
    _ = try await center.requestAuthorization(options: [.alert])
    try await center.add(request())
    #expect(center.respond(to: "bluetooth-off"))
    var taps = app.taps.makeAsyncIterator()
    let title = await taps.next()
    #expect(title == "Bluetooth is off")
    withExtendedLifetime(app) {}
  }

  @Test("A delegate that shows nothing keeps the screen empty")
  func silent() async throws {
    let screen = Screen()
    let app = ForegroundApp(shows: [])
    screen.isAppInForeground = true
    center.install(screen)
    center.delegate = app
    _ = try await center.requestAuthorization(options: [.alert])
    try await center.add(request())
    var answers = app.answers.makeAsyncIterator()
    #expect(await answers.next() == "present bluetooth-off")
    #expect(screen.shown.isEmpty)
  }

  @Test("Options and states have Apple's numbers")
  func numbers() {
    let options: [UNAuthorizationOptions] = [.badge, .sound, .alert, .carPlay, .criticalAlert]
    #expect(options.map(\.rawValue) == [1, 2, 4, 8, 16])
    #expect(UNAuthorizationOptions.provisional.rawValue == 64)
    let shown: [UNNotificationPresentationOptions] = [.badge, .sound, .alert, .list, .banner]
    #expect(shown.map(\.rawValue) == [1, 2, 4, 8, 16])
    let states: [UNAuthorizationStatus] = [.notDetermined, .denied, .authorized, .provisional]
    #expect(states.map(\.rawValue) == [0, 1, 2, 3])
  }
}

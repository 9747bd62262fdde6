import ExposureNotification
import Foundation
import UserNotifications

/// The app: what an app delegate puts together at launch.
public final class ExampleApp: UNUserNotificationCenterDelegate {
  /// The app's name in the system.
  public static let bundleIdentifier = "org.example.firebreak-example"

  /// What the app remembers.
  public let store: LocalStore
  /// The framework.
  public let notifications: ExposureNotifications
  /// What a developer may do.
  public let developerMenu: DeveloperMenu
  private let backgroundCheck: BackgroundCheck
  private let bluetoothNotice = BluetoothNotice()

  /// An app that keeps its values in `storage` and tells the time by `now`.
  public init(
    storage: KeyValueStorage, authority: HealthAuthority, now: @escaping () -> Date = Date.init
  ) {
    store = LocalStore(in: storage)
    notifications = ExposureNotifications(store: store, authority: authority, now: now)
    developerMenu = DeveloperMenu(notifications: notifications)
    backgroundCheck = BackgroundCheck(
      notifications: notifications, bluetoothNotice: bluetoothNotice,
      exposureNotice: ExposureNotice())
  }

  /// Starts the app: registers the check, forgets what is old, asks for the next run.
  public func launch(completion: @escaping (Error?) -> Void) {
    UNUserNotificationCenter.current().delegate = self
    backgroundCheck.register()
    store.findings.forgetOld(at: notifications.now())
    notifications.observeStatus { [bluetoothNotice] in bluetoothNotice.update(for: $0) }
    notifications.activate { [self] error in
      backgroundCheck.schedule()
      completion(error)
    }
  }

  /// The first pages, where the person has not been through them yet.
  public var onboarding: Onboarding? {
    store.isOnboarded
      ? nil : Onboarding(notifications: notifications, backgroundCheck: backgroundCheck)
  }

  /// A new entry of a positive test.
  public func newTestEntry() -> TestEntry { TestEntry(notifications: notifications) }

  /// The first tab.
  public var exposuresScreen: ExposuresScreen { ExposuresScreen(notifications) }

  /// The second tab.
  public var notifyOthersScreen: NotifyOthersScreen { NotifyOthersScreen(notifications) }

  /// Also while the app is in front its notifications are shown.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler([.alert, .badge, .sound])
  }
}

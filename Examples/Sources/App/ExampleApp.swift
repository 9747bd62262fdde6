// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import UserNotifications

/// The app, as an app delegate creates it at launch.
public final class ExampleApp: UNUserNotificationCenterDelegate {
  /// The app's bundle identifier.
  public static let bundleIdentifier = "org.example.firebreak-example"

  /// The app's persistent values.
  public let store: LocalStore
  /// The app's use of the framework.
  public let notifications: ExposureNotifications
  /// The actions of the developer menu.
  public let developerMenu: DeveloperMenu
  private let backgroundCheck: BackgroundCheck
  private let bluetoothNotice = BluetoothNotice()

  /// Creates an app with its storage, its server and a clock.
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

  /// Starts the app: registers the check, removes old exposures and schedules the next run.
  public func launch(completion: @escaping (Error?) -> Void) {
    UNUserNotificationCenter.current().delegate = self
    backgroundCheck.register()
    store.checkState.removeOld(at: notifications.now())
    notifications.observeStatus { [bluetoothNotice] in bluetoothNotice.update(for: $0) }
    notifications.activate { [self] error in
      backgroundCheck.schedule()
      completion(error)
    }
  }

  /// The onboarding, or `nil` if the user has completed it.
  public var onboarding: Onboarding? {
    store.isOnboarded
      ? nil : Onboarding(notifications: notifications, backgroundCheck: backgroundCheck)
  }

  /// Creates an entry for a positive test.
  public func newTestEntry() -> TestEntry { TestEntry(notifications: notifications) }

  public var exposuresScreen: ExposuresScreen { ExposuresScreen(notifications) }

  public var notifyOthersScreen: NotifyOthersScreen { NotifyOthersScreen(notifications) }

  /// Shows notifications even if the app is in the foreground.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler([.alert, .badge, .sound])
  }
}

/// The app's texts outside its pages.
enum Texts {
  static let whyExposuresAreRead = "The list of your exposures shows day, duration and score."
  static let outOfTime = "The phone had no more time for the check; it will be tried again."
  static let bluetoothOffTitle = "Bluetooth is off"
  static let bluetoothOffBody = "Without Bluetooth the phone records no encounters. Switch it on."
  static let exposureTitle = "You may have been exposed"
  static let exposureBody = "Open the app to see when, and what to do now."
  static let simulatedError = "The server of the health authority cannot be reached."

  static func notScheduled(_ reason: String) -> String {
    "The next check could not be scheduled: \(reason)"
  }
}

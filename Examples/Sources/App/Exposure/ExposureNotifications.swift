import ExposureNotification
import Foundation

/// The app's way to the framework: on and off, checks, the person's own keys.
///
/// Everything happens on the main queue.
public final class ExposureNotifications {
  /// Posted when the person has been asked, whatever the answer.
  public static let authorizationDidChange = Notification.Name(
    "ExposureNotifications.authorizationDidChange")

  let manager = ENManager()
  let store: LocalStore
  let authority: HealthAuthority
  let now: () -> Date
  /// What is being checked; a second check meanwhile would count every key twice.
  var running: Detection?
  private var statusObservation: NSKeyValueObservation?

  /// The framework of this phone, not usable before `activate`.
  init(store: LocalStore, authority: HealthAuthority, now: @escaping () -> Date) {
    self.store = store
    self.authority = authority
    self.now = now
  }

  deinit {
    manager.invalidate()
  }

  /// Whether the person lets the app use exposure notification.
  public var authorization: ENAuthorizationStatus { ENManager.authorizationStatus }

  /// Whether beacons are sent and heard.
  public var status: ENStatus { manager.exposureNotificationStatus }

  /// Makes the framework usable. A person who said no first and yes in the settings later has meant
  /// it to be on.
  func activate(completion: @escaping (Error?) -> Void) {
    manager.activate { [self] error in
      guard error == nil, authorization == .authorized, !manager.exposureNotificationEnabled
      else { return completion(error) }
      turn(on: true, completion)
    }
  }

  /// Calls `observer` when the status changes.
  func observeStatus(_ observer: @escaping (ENStatus) -> Void) {
    statusObservation = manager.observe(\.exposureNotificationStatus, options: [.new]) {
      _, change in
      if let status = change.newValue { observer(status) }
    }
  }

  /// Switches it on or off; the person is asked the first time.
  public func setEnabled(_ isEnabled: Bool, completion: @escaping (Error?) -> Void) {
    turn(on: isEnabled) { error in
      NotificationCenter.default.post(name: Self.authorizationDidChange, object: nil)
      completion(error)
    }
  }

  /// What is switched on without Bluetooth is on, so that is no failure; the notice about Bluetooth
  /// follows the status.
  private func turn(on isEnabled: Bool, _ completion: @escaping (Error?) -> Void) {
    manager.setExposureNotificationEnabled(isEnabled) { error in
      let isOnWithoutBluetooth = (error as? ENError)?.code == .bluetoothOff
      completion(isOnWithoutBluetooth ? nil : error)
    }
  }
}

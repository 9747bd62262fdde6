import ExposureNotification
import Foundation
import UserNotifications

/// Tells the person that Bluetooth is off, for as long as it is.
final class BluetoothNotice {
  static let identifier = "bluetooth-off"

  /// Whether this run of the app has said it and not taken it back.
  private var isShown = false

  func update(for status: ENStatus) {
    let center = UNUserNotificationCenter.current()
    guard status == .bluetoothOff else {
      isShown = false
      return center.removeDeliveredNotifications(withIdentifiers: [Self.identifier])
    }
    guard !isShown else { return }
    isShown = true
    let content = UNMutableNotificationContent()
    content.title = Words.bluetoothOffTitle
    content.body = Words.bluetoothOffBody
    content.sound = .default
    center.add(
      UNNotificationRequest(identifier: Self.identifier, content: content, trigger: nil))
  }
}

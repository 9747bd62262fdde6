// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks
import ExposureNotification
import Foundation
import UserNotifications

/// The check in the background.
public final class BackgroundCheck {
  /// The task's identifier. Apple's system gives tasks with this suffix more time.
  public static let taskIdentifier = "\(ExampleApp.bundleIdentifier).exposure-notification"

  private let notifications: ExposureNotifications
  private let bluetoothNotice: BluetoothNotice
  private let exposureNotice: ExposureNotice

  init(
    notifications: ExposureNotifications, bluetoothNotice: BluetoothNotice,
    exposureNotice: ExposureNotice
  ) {
    self.notifications = notifications
    self.bluetoothNotice = bluetoothNotice
    self.exposureNotice = exposureNotice
  }

  /// Registers the task; call it once at launch.
  func register() {
    BGTaskScheduler.shared.register(
      forTaskWithIdentifier: Self.taskIdentifier, using: .main
    ) { [self] task in
      run(task)
    }
  }

  /// Schedules the next run if exposure notification is authorized.
  func schedule() {
    guard notifications.authorization == .authorized else { return }
    let request = BGProcessingTaskRequest(identifier: Self.taskIdentifier)
    request.requiresNetworkConnectivity = true
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch {
      notifications.store.checkError = Texts.notScheduled(error.localizedDescription)
    }
  }

  private func run(_ task: BGTask) {
    let progress = Progress()
    // Set this first: the time may expire before the check starts.
    task.expirationHandler = { [self] in
      notifications.store.checkError = Texts.outOfTime
      progress.cancel()
    }
    bluetoothNotice.update(for: notifications.status)
    let check = notifications.check { [self] result in
      if case .success(1...) = result { exposureNotice.show() }
      task.setTaskCompleted(success: (try? result.get()) != nil)
    }
    progress.cancellationHandler = { check.cancel() }
    if progress.isCancelled { check.cancel() }
    schedule()
  }
}

/// Shows a notification while Bluetooth is off.
final class BluetoothNotice {
  static let identifier = "bluetooth-off"

  /// True if this run of the app has shown the notification.
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
    content.title = Texts.bluetoothOffTitle
    content.body = Texts.bluetoothOffBody
    content.sound = .default
    center.add(
      UNNotificationRequest(identifier: Self.identifier, content: content, trigger: nil))
  }
}

/// Shows a notification about a new exposure.
final class ExposureNotice {
  static let identifier = "exposure"

  func show() {
    let content = UNMutableNotificationContent()
    content.title = Texts.exposureTitle
    content.body = Texts.exposureBody
    content.sound = .default
    UNUserNotificationCenter.current().add(
      UNNotificationRequest(identifier: Self.identifier, content: content, trigger: nil))
  }
}

import BackgroundTasks
import ExposureNotification
import Foundation

/// The check that runs while nobody looks.
public final class BackgroundCheck {
  /// The name under which the app registers it. Apple's system gives tasks with this ending more time.
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

  /// Registers the task; once, at launch.
  func register() {
    BGTaskScheduler.shared.register(
      forTaskWithIdentifier: Self.taskIdentifier, using: .main
    ) { [self] task in
      run(task)
    }
  }

  /// Asks for the next run, where the person lets the app use exposure notification.
  func schedule() {
    guard notifications.authorization == .authorized else { return }
    let request = BGProcessingTaskRequest(identifier: Self.taskIdentifier)
    request.requiresNetworkConnectivity = true
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch {
      notifications.store.checkError = Words.notScheduled(error.localizedDescription)
    }
  }

  private func run(_ task: BGTask) {
    let progress = Progress()
    // First of all: the time may be over before the check has begun.
    task.expirationHandler = { [self] in
      notifications.store.checkError = Words.outOfTime
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

// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks

/// A check each day. The file has no import of Foundation.
final class DailyCheck {
  static let identifier = "org.example.daily"
  private let interval: TimeInterval = 86_400

  func register(on queue: DispatchQueue, work: @escaping () -> Bool) -> Bool {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.identifier, using: queue) { task in
      task.expirationHandler = { task.setTaskCompleted(success: false) }
      task.setTaskCompleted(success: task is BGProcessingTask && work())
    }
  }

  func schedule(after now: Date) throws {
    let request = BGProcessingTaskRequest(identifier: Self.identifier)
    request.earliestBeginDate = now.addingTimeInterval(interval)
    try BGTaskScheduler.shared.submit(request)
  }
}

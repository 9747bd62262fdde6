import BackgroundTasks
import Synchronization

/// Remembers what the app asked for.
final class RecordingSink: BackgroundTaskSink {
  private let told = Mutex<[[PendingBackgroundTask]]>([])

  var last: [PendingBackgroundTask]? { told.withLock(\.last) }

  func pendingTasksChanged(_ pending: [PendingBackgroundTask]) {
    told.withLock { $0.append(pending) }
  }
}

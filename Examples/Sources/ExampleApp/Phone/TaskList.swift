import BackgroundTasks

/// The phone's list of background tasks. They are run by the command `background`, not by time.
struct TaskList: BackgroundTaskSink {
  func pendingTasksChanged(_ pending: [PendingBackgroundTask]) {}
}

/// Who runs an app's background tasks: the part of Apple's system that a program on Linux provides.
public protocol BackgroundTaskSink: Sendable {
  /// Called after each change, from the app's queue, with all that the app asks for now. The sink
  /// calls `BGTaskScheduler.launch(_:)` when it sees fit.
  func pendingTasksChanged(_ pending: [PendingBackgroundTask])
}

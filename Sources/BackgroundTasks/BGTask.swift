import Foundation

/// One run of a background task, as the app sees it.
open class BGTask: NSObject {
  /// Which of the app's tasks runs.
  open var identifier: String { running.identifier }

  /// Called on the task's queue when the time is over. The app stops then and still says that it is
  /// done.
  ///
  /// It may be set at any moment: a task that is done keeps none, since a handler holds the work.
  open var expirationHandler: (() -> Void)? {
    get { running.expirationHandler?.value }
    set { running.expirationHandler = newValue.map(Handoff.init) }
  }

  private let running: RunningBackgroundTask

  init(_ running: RunningBackgroundTask) {
    self.running = running
  }

  /// Ends the task: the program may sleep again. Only the first call counts.
  open func setTaskCompleted(success: Bool) {
    running.end(success: success)
  }

  static func of(_ kind: BackgroundTaskKind, _ running: RunningBackgroundTask) -> BGTask {
    switch kind {
    case .refresh: BGAppRefreshTask(running)
    case .processing: BGProcessingTask(running)
    }
  }
}

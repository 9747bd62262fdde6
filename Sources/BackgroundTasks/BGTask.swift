// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One run of a background task, as the app sees it.
open class BGTask: NSObject {
  /// The identifier under which the app registered the task.
  open var identifier: String { running.identifier }

  /// Called on the task's queue when the time is over. The app must then stop and call
  /// `setTaskCompleted(success:)`.
  ///
  /// A completed task keeps no handler, because the handler retains the app's work.
  open var expirationHandler: (() -> Void)? {
    get { running.expirationHandler?.value }
    set { running.expirationHandler = newValue.map(UncheckedSendableBox.init) }
  }

  private let running: RunningBackgroundTask

  init(_ running: RunningBackgroundTask) {
    self.running = running
  }

  /// Completes the task. Only the first call counts.
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

/// A run of up to some seconds.
open class BGAppRefreshTask: BGTask {}

/// A run of up to some minutes.
open class BGProcessingTask: BGTask {}

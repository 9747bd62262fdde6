import Dispatch
import ExposureNotification
import Foundation
import Synchronization

/// The app's `ENManager` with async functions. It is not Sendable and stays on the app's actor.
struct Framework {
  let manager: ENManager

  /// Wraps `manager` and gives its handlers their own queue.
  init(_ manager: ENManager) {
    self.manager = manager
    manager.dispatchQueue = DispatchQueue(label: "ExposureApp.Framework")
  }

  var status: ENStatus { manager.exposureNotificationStatus }
  var isEnabled: Bool { manager.exposureNotificationEnabled }

  func activate() async throws { try await manager.activate() }

  func setEnabled(_ isEnabled: Bool) async throws {
    try await manager.setExposureNotificationEnabled(isEnabled)
  }

  /// The phone's own keys; the system asks the user first.
  func diagnosisKeys() async throws -> [ENTemporaryExposureKey] {
    try await manager.diagnosisKeys()
  }
}

/// Connects the framework's `Progress` to the current task: cancelling the task cancels the operation,
/// even if the progress arrives after the cancellation.
final class ProgressCancellation: Sendable {
  private struct State {
    var progress: Progress?
    var isCancelled = false
  }

  private let state = Mutex(State())

  /// Stores the progress of the operation that has just started.
  func track(_ progress: Progress) {
    let isCancelled = state.withLock {
      $0.progress = progress
      return $0.isCancelled
    }
    if isCancelled { progress.cancel() }
  }

  /// Runs `work` and cancels the tracked progress if the task is cancelled.
  ///
  /// - Throws: The error of `work`, or `CancellationError` if the task was cancelled, even if `work`
  ///   succeeded.
  func run<Value>(_ work: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    do {
      let value = try await withTaskCancellationHandler(operation: work, onCancel: cancel)
      try Task.checkCancellation()
      return value
    } catch {
      try Task.checkCancellation()
      throw error
    }
  }

  @Sendable private func cancel() {
    let progress = state.withLock {
      $0.isCancelled = true
      return $0.progress
    }
    progress?.cancel()
  }
}

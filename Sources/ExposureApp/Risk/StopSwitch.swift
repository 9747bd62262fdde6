import Foundation
import Synchronization

/// Ties the framework's `Progress` to the task that waits for it: cancelling the task cancels the
/// detection, also where the progress comes after the cancellation.
final class StopSwitch: Sendable {
  private struct State {
    var progress: Progress?
    var isStopped = false
  }

  private let state = Mutex(State())

  /// Takes the progress of what has just begun.
  func holds(_ progress: Progress) {
    let isStopped = state.withLock {
      $0.progress = progress
      return $0.isStopped
    }
    if isStopped { progress.cancel() }
  }

  /// Does `work`, and stops it where the task is cancelled.
  ///
  /// - Throws: `CancellationError` after a cancellation, whatever came of the work.
  func watched<Value>(_ work: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    do {
      let value = try await withTaskCancellationHandler(operation: work, onCancel: stop)
      try Task.checkCancellation()
      return value
    } catch {
      try Task.checkCancellation()
      throw error
    }
  }

  @Sendable private func stop() {
    let progress = state.withLock {
      $0.isStopped = true
      return $0.progress
    }
    progress?.cancel()
  }
}

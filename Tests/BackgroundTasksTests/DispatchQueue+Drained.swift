import Dispatch

extension DispatchQueue {
  /// Returns when all that was queued before has run.
  func drained() async {
    await withCheckedContinuation { done in async { done.resume() } }
  }
}

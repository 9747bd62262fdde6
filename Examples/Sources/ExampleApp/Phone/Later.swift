import Foundation

/// Waiting for the app's handlers.
enum Later {
  /// Waits until the handler is called; throws what it is called with.
  @MainActor
  static func wait(for call: (@escaping (Error?) -> Void) -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, Error>) in
      call { error in
        if let error { done.resume(throwing: error) } else { done.resume() }
      }
    }
  }
}

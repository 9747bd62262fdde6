import Dispatch
import Synchronization

/// One run of a background task, as the program that launched it sees it.
public final class RunningBackgroundTask: Sendable {
  private struct State {
    var expirationHandler: Handoff<() -> Void>?
    var isExpired = false
    var succeeded: Bool?
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  /// Which of the app's tasks runs.
  public let identifier: String

  private let queue: DispatchQueue
  private let state = Mutex(State())

  init(identifier: String, queue: DispatchQueue) {
    self.identifier = identifier
    self.queue = queue
  }

  /// Tells the app that its time is over; only the first call counts. An app that has not said what
  /// to do then has failed.
  public func expire() {
    let (isFirst, handler) = state.withLock { state in
      defer {
        state.isExpired = true
        state.expirationHandler = nil
      }
      return (!state.isExpired, state.expirationHandler)
    }
    guard isFirst else { return }
    guard let handler else { return end(success: false) }
    queue.async { handler.value() }
  }

  /// Waits until the app is done; whether it says that it succeeded.
  public func succeeded() async -> Bool {
    await withCheckedContinuation { waiting in
      let succeeded = state.withLock { state in
        if state.succeeded == nil { state.waiting.append(waiting) }
        return state.succeeded
      }
      if let succeeded { waiting.resume(returning: succeeded) }
    }
  }

  var expirationHandler: Handoff<() -> Void>? {
    get { state.withLock(\.expirationHandler) }
    set { state.withLock { $0.expirationHandler = $0.succeeded == nil ? newValue : nil } }
  }

  func end(success: Bool) {
    let waiting = state.withLock { state in
      guard state.succeeded == nil else { return [CheckedContinuation<Bool, Never>]() }
      defer { state.waiting = [] }
      state.succeeded = success
      state.expirationHandler = nil
      return state.waiting
    }
    for waiting in waiting { waiting.resume(returning: success) }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// One run of a background task, as the program that launched it sees it.
public final class RunningBackgroundTask: Sendable {
  private struct State {
    var expirationHandler: UncheckedSendableBox<() -> Void>?
    var isExpired = false
    var succeeded: Bool?
    var waiters: [CheckedContinuation<Bool, Never>] = []
  }

  /// The identifier under which the app registered the task.
  public let identifier: String

  private let queue: DispatchQueue
  private let state = Mutex(State())

  init(identifier: String, queue: DispatchQueue) {
    self.identifier = identifier
    self.queue = queue
  }

  /// Calls the app's expiration handler; only the first call counts. A task without a handler fails.
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

  /// Waits until the app completes the task. Returns `true` if the app reports success.
  public func succeeded() async -> Bool {
    await withCheckedContinuation { waiter in
      let succeeded = state.withLock { state in
        if state.succeeded == nil { state.waiters.append(waiter) }
        return state.succeeded
      }
      if let succeeded { waiter.resume(returning: succeeded) }
    }
  }

  var expirationHandler: UncheckedSendableBox<() -> Void>? {
    get { state.withLock(\.expirationHandler) }
    set { state.withLock { $0.expirationHandler = $0.succeeded == nil ? newValue : nil } }
  }

  func end(success: Bool) {
    let waiters = state.withLock { state in
      guard state.succeeded == nil else { return [CheckedContinuation<Bool, Never>]() }
      defer { state.waiters = [] }
      state.succeeded = success
      state.expirationHandler = nil
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: success) }
  }
}

/// A handler of the app. Apple's handlers are not `Sendable`; only the task's queue calls this one.
struct UncheckedSendableBox<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

import Foundation
import Synchronization

/// Why the system woke the app, told to the managers that listen.
///
/// A reason that nobody hears waits for the first one who does: the system wakes an app before the
/// app has activated its manager.
final class Activities: Sendable {
  private struct State {
    var listeners: [UUID: @Sendable (ENActivityFlags) -> Void] = [:]
    var waiting: ENActivityFlags = []
  }

  private let state = Mutex(State())

  /// Calls `listener` with what waits, and with each reason until `remove` with the answer.
  func add(_ listener: @escaping @Sendable (ENActivityFlags) -> Void) -> UUID {
    let id = UUID()
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.listeners[id] = listener
      return state.waiting
    }
    if !waiting.isEmpty { listener(waiting) }
    return id
  }

  func remove(_ id: UUID) {
    state.withLock { $0.listeners[id] = nil }
  }

  func tell(_ reason: ENActivityFlags) {
    let listeners = state.withLock { state in
      if state.listeners.isEmpty { state.waiting.formUnion(reason) }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener(reason) }
  }
}

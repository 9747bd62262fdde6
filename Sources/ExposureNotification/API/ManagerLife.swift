import Dispatch
import Synchronization

/// The life of one `ENManager`: made, activated, invalidated, and never again.
///
/// Documentation/Framework.md 1.
final class ManagerLife: Sendable {
  enum Phase { case new, activating, active, invalidated }

  private let phase = Mutex(Phase.new)
  /// Ends hearing of the device's activities.
  private let deafen = Mutex<(@Sendable () -> Void)?>(nil)
  /// The handlers that are still to be called; invalidation waits for them.
  let handlers = DispatchGroup()

  /// Told when the manager's properties may have another value.
  let changes = Changes()

  var isActive: Bool { phase.withLock { $0 == .active } }

  func beginActivation() throws(ENError) {
    try phase.withLock { phase throws(ENError) in
      if phase == .invalidated { throw ENError(.invalidated) }
      guard phase == .new else { throw ENError(.apiMisuse) }
      phase = .activating
    }
  }

  func endActivation(succeeded: Bool) throws(ENError) {
    try phase.withLock { phase throws(ENError) in
      guard phase == .activating else { throw ENError(.invalidated) }
      phase = succeeded ? .active : .new
    }
    changes.tell()
  }

  func requireActive() throws(ENError) {
    try phase.withLock { phase throws(ENError) in
      if phase == .invalidated { throw ENError(.invalidated) }
      guard phase == .active else { throw ENError(.apiMisuse) }
    }
  }

  /// Calls `handler` on `queue` with each reason of `activities`, until the end.
  func hear(
    _ activities: Activities, on queue: DispatchQueue, _ handler: Handoff<ENActivityHandler>
  ) {
    let id = activities.add { [weak self] flags in
      guard let self else { return }
      queue.async {
        if self.isActive { handler.value(flags) }
      }
    }
    deafen.withLock { $0 = { activities.remove(id) } }
  }

  /// Whether this call was the one that ended it.
  @discardableResult
  func invalidate() -> Bool {
    let deafen = deafen.withLock { deafen in
      defer { deafen = nil }
      return deafen
    }
    deafen?()
    return phase.withLock { phase in
      defer { phase = .invalidated }
      return phase != .invalidated
    }
  }
}

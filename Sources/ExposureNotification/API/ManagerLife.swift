import Dispatch
import Synchronization

/// The life of one `ENManager`: made, activated, invalidated, and never again.
///
/// Documentation/Framework.md 1.
final class ManagerLife: Sendable {
  enum Phase { case new, activating, active, invalidated }

  private let phase = Mutex(Phase.new)
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

  /// Whether this call was the one that ended it.
  func invalidate() -> Bool {
    phase.withLock { phase in
      defer { phase = .invalidated }
      return phase != .invalidated
    }
  }
}

import ExposureApp
import Synchronization

/// A background run that a simulated system grants, and can take back.
public final class SimulatedRun: BackgroundRun {
  private struct State {
    var handler: (@Sendable () -> Void)?
    var isOver = false
    var success: Bool?
  }

  private let state = Mutex(State())

  /// A run that has not ended.
  public init() {}

  /// How the app said the run went, or nil while it has not said.
  public var success: Bool? { state.withLock { $0.success } }

  public func setExpirationHandler(_ handler: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      state.handler = handler
      return state.isOver
    }
    if isOver { handler() }
  }

  public func complete(success: Bool) {
    state.withLock { state in
      if state.success == nil { state.success = success }
    }
  }

  /// Takes the time back.
  public func expire() {
    let handler = state.withLock { state in
      defer { state.handler = nil }
      state.isOver = true
      return state.handler
    }
    handler?()
  }
}

import ExposureApp
import Foundation
import Synchronization

/// A background run that a test can expire.
public final class SimulatedRun: BackgroundRun {
  private struct State {
    var handler: (@Sendable () -> Void)?
    var isOver = false
    var success: Bool?
  }

  private let state = Mutex(State())

  /// Creates a run.
  public init() {}

  /// The reported result; `nil` if the run has not ended.
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

  /// Expires the run.
  public func expire() {
    let handler = state.withLock { state in
      defer { state.handler = nil }
      state.isOver = true
      return state.handler
    }
    handler?()
  }
}

/// The background requests of one phone's app.
public final class SimulatedScheduler: BackgroundScheduler {
  private let requests = Mutex<[String: BackgroundRequest]>([:])

  /// Creates a scheduler without requests.
  public init() {}

  public func schedule(_ request: BackgroundRequest) throws {
    requests.withLock { $0[request.identifier] = request }
  }

  /// Removes and returns the earliest pending request.
  public func takeRequest() -> BackgroundRequest? {
    requests.withLock { requests in
      guard let next = requests.values.min(by: { $0.earliest < $1.earliest }) else { return nil }
      return requests.removeValue(forKey: next.identifier)
    }
  }

  /// Removes and returns the earliest pending request if it is due at `now`.
  public func takeRequest(dueAt now: Date) -> BackgroundRequest? {
    requests.withLock { requests in
      guard let next = requests.values.min(by: { $0.earliest < $1.earliest }), next.earliest <= now
      else { return nil }
      return requests.removeValue(forKey: next.identifier)
    }
  }

  /// True if a request is pending.
  public var hasRequest: Bool { requests.withLock { !$0.isEmpty } }
}

/// The notices that one phone has shown.
public final class SimulatedNotices: NoticeSink {
  private struct State {
    var shown: [Notice] = []
    var visible: Set<Notice.Identifier> = []
  }

  private let state = Mutex(State())

  /// Creates an empty list.
  public init() {}

  /// All notices ever shown, oldest first.
  public var shown: [Notice] { state.withLock { $0.shown } }

  /// The risk notices among them.
  public var exposureNotices: [Notice] { shown.filter { $0.identifier == .risk } }

  /// True if a notice of this kind is shown now.
  public func isVisible(_ identifier: Notice.Identifier) -> Bool {
    state.withLock { $0.visible.contains(identifier) }
  }

  public func show(_ notice: Notice) async {
    state.withLock { state in
      state.shown.append(notice)
      state.visible.insert(notice.identifier)
    }
  }

  public func remove(_ identifier: Notice.Identifier) async {
    _ = state.withLock { $0.visible.remove(identifier) }
  }
}

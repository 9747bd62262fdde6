import ExposureApp
import Synchronization

/// The notices that one phone has shown to its owner.
public final class NoticeBoard: NoticeSink {
  private struct State {
    var shown: [Notice] = []
    var standing: Set<Notice.Identifier> = []
  }

  private let state = Mutex(State())

  /// A phone that has shown nothing yet.
  public init() {}

  /// Everything that was ever shown, oldest first.
  public var shown: [Notice] { state.withLock { $0.shown } }

  /// The notices about an exposure among them.
  public var exposureNotices: [Notice] { shown.filter { $0.identifier == .risk } }

  public func show(_ notice: Notice) async {
    state.withLock { state in
      state.shown.append(notice)
      state.standing.insert(notice.identifier)
    }
  }

  public func remove(_ identifier: Notice.Identifier) async {
    _ = state.withLock { $0.standing.remove(identifier) }
  }
}

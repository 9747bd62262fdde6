import Dispatch
import Synchronization

/// Work that is done each time that so much has come, beside whatever brought it: on a queue of its own, and
/// once at a time. What comes while it is under way counts for the next time.
final class DueWork: Sendable {
  private let countMax: Int
  private let work: @Sendable () -> Void
  private let queue: DispatchQueue
  private let state = Mutex(State())

  private struct State {
    var count = 0
    var isBusy = false
  }

  /// Does `work` each time that `countMax` has come; `name` is its queue's.
  init(_ name: String, each countMax: Int, _ work: @escaping @Sendable () -> Void) {
    self.countMax = countMax
    self.work = work
    queue = DispatchQueue(label: name)
  }

  /// Takes notice that `count` more has come.
  func add(_ count: Int) {
    let begins = state.withLock { state in
      state.count += count
      guard state.count >= countMax, !state.isBusy else { return false }
      state = State(count: 0, isBusy: true)
      return true
    }
    if begins { queue.async { self.run() } }
  }

  /// Whether somebody is at it: for tests.
  var isUnderWay: Bool { state.withLock { $0.isBusy } }

  private func run() {
    work()
    state.withLock { $0.isBusy = false }
  }
}

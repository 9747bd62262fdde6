import Dispatch
import Foundation
import Synchronization

/// Apple's scheduler of background work, on Linux.
///
/// It keeps what the app has registered and asked for. When anything runs is up to the program: it
/// installs a `BackgroundTaskSink`, and calls `launch(_:)`. Without a sink nothing would ever run, so
/// `submit(_:)` fails with `.unavailable`, as it does where the person has switched background
/// refresh off.
public final class BGTaskScheduler: Sendable {
  typealias Launch = Handoff<(BGTask) -> Void>

  private struct Registration {
    let queue: DispatchQueue
    let launch: Launch
  }

  private struct State {
    var sink: (any BackgroundTaskSink)?
    var permitted: Set<String> = []
    var registrations: [String: Registration] = [:]
    var pending: [PendingBackgroundTask] = []
  }

  /// The scheduler of this process.
  public static let shared = BGTaskScheduler()

  private let state = Mutex(State())

  /// A scheduler of its own, for a program with several phones.
  package init() {}

  /// Gives the scheduler to `sink`. `permittedIdentifiers` are those that an app's Info.plist names
  /// under `BGTaskSchedulerPermittedIdentifiers`.
  public func install(_ sink: any BackgroundTaskSink, permittedIdentifiers: Set<String>) {
    state.withLock {
      $0.sink = sink
      $0.permitted = permittedIdentifiers
    }
  }

  /// Says what is to be called, on `queue` or on one of the scheduler's, when the task is launched.
  ///
  /// False where the identifier is not permitted or is registered already. Apple stops the app at a
  /// second registration; here the first one stays.
  @discardableResult
  public func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
    launchHandler: @escaping (BGTask) -> Void
  ) -> Bool {
    let registration = Registration(
      queue: queue ?? DispatchQueue(label: identifier), launch: Handoff(launchHandler))
    return state.withLock {
      guard $0.permitted.contains(identifier), $0.registrations[identifier] == nil else {
        return false
      }
      $0.registrations[identifier] = registration
      return true
    }
  }

  /// Asks for a task to be run some time. A request replaces a pending one of the same identifier.
  ///
  /// - Throws: `BGTaskScheduler.Error`: `.unavailable` without a sink, `.notPermitted`,
  ///   `.tooManyPendingTaskRequests` past a limit of `BackgroundTaskLimit`.
  public func submit(_ taskRequest: BGTaskRequest) throws {
    let task = taskRequest.pending
    try change { state in
      guard state.sink != nil else { throw Error(.unavailable) }
      guard state.permitted.contains(task.identifier) else { throw Error(.notPermitted) }
      let others = state.pending.filter { $0.identifier != task.identifier }
      guard others.count(where: { $0.kind == task.kind }) < BackgroundTaskLimit.pending(task.kind)
      else { throw Error(.tooManyPendingTaskRequests) }
      state.pending = others + [task]
    }
  }

  /// Takes back what was asked for under `identifier`. What runs already goes on.
  public func cancel(taskRequestWithIdentifier identifier: String) {
    change { $0.pending.removeAll { $0.identifier == identifier } }
  }

  /// Takes back all that was asked for.
  public func cancelAllTaskRequests() {
    change { $0.pending = [] }
  }

  /// What is asked for and has not run yet.
  public func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void) {
    let (pending, handler) = (state.withLock(\.pending), Handoff(completionHandler))
    DispatchQueue.global().async { handler.value(pending.map(\.request)) }
  }

  /// `getPendingTaskRequests(completionHandler:)`, awaited.
  public func pendingTaskRequests() async -> [BGTaskRequest] {
    state.withLock(\.pending).map(\.request)
  }

  /// Runs a pending task now: the program's side, which Apple's system does by itself.
  ///
  /// Nil where the app has not asked for it, or has registered nothing to be called.
  @discardableResult
  public func launch(_ identifier: String) -> RunningBackgroundTask? {
    let found = change { state -> (PendingBackgroundTask, Registration)? in
      guard let registration = state.registrations[identifier],
        let index = state.pending.firstIndex(where: { $0.identifier == identifier })
      else { return nil }
      return (state.pending.remove(at: index), registration)
    }
    guard let (task, registration) = found else { return nil }
    let running = RunningBackgroundTask(identifier: identifier, queue: registration.queue)
    let kind = task.kind
    registration.queue.async { registration.launch.value(BGTask.of(kind, running)) }
    return running
  }

  /// Changes the state and tells the sink, where what is pending is another now.
  private func change<Value: Sendable>(
    _ change: (inout State) throws -> Value
  ) rethrows -> Value {
    let (value, sink, pending) = try state.withLock { state in
      let before = state.pending
      let value = try change(&state)
      return (value, before == state.pending ? nil : state.sink, state.pending)
    }
    sink?.pendingTasksChanged(pending)
    return value
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dispatch
// Apps use Foundation through this module, as on Apple's systems.
@_exported import Foundation
import Synchronization

/// Apple's scheduler of background work, on Linux.
///
/// It stores the app's registrations and requests. The program decides when a task runs: it installs a
/// `BackgroundTaskSink` and calls `launch(_:)`. Without a sink no task would ever run, so `submit(_:)`
/// fails with `.unavailable`, as on Apple's systems when background refresh is turned off.
// Its state is behind a mutex; the class has no other.
open class BGTaskScheduler: NSObject, @unchecked Sendable {
  // Apple's handlers are not `Sendable`; only `queue` calls `launch`.
  private struct Registration: @unchecked Sendable {
    let queue: DispatchQueue
    let launch: (BGTask) -> Void
  }

  private struct State {
    var sink: (any BackgroundTaskSink)?
    var permitted: Set<String> = []
    var registrations: [String: Registration] = [:]
    var pending: [PendingBackgroundTask] = []
  }

  private static let processScheduler = BGTaskScheduler()

  private let state = Mutex(State())

  /// A separate scheduler, for a program with several devices.
  package override init() {}

  /// The scheduler of this process.
  open class var shared: BGTaskScheduler { processScheduler }

  /// Registers the handler that is called when the task is launched, on `queue` or, if that is nil, on a
  /// queue of the scheduler.
  ///
  /// Returns `false` if the identifier is not permitted or is already registered. Apple's system stops
  /// the app at a second registration; here the first one stays.
  @discardableResult
  open func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
    launchHandler: @escaping (BGTask) -> Void
  ) -> Bool {
    let registration = Registration(
      queue: queue ?? DispatchQueue(label: identifier), launch: launchHandler)
    return state.withLock {
      guard $0.permitted.contains(identifier), $0.registrations[identifier] == nil else {
        return false
      }
      $0.registrations[identifier] = registration
      return true
    }
  }

  /// Adds a request. It replaces a pending one with the same identifier.
  ///
  /// - Throws: `BGTaskScheduler.Error`: `.unavailable` without a sink, `.notPermitted`, or
  ///   `.tooManyPendingTaskRequests` if a limit of `BackgroundTaskLimit` is exceeded.
  open func submit(_ taskRequest: BGTaskRequest) throws {
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

  /// Cancels the pending request with this identifier. A running task is not affected.
  open func cancel(taskRequestWithIdentifier identifier: String) {
    change { $0.pending.removeAll { $0.identifier == identifier } }
  }

  /// Cancels all pending requests.
  open func cancelAllTaskRequests() {
    change { $0.pending = [] }
  }

  /// Returns the pending requests.
  open func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void) {
    let pending = state.withLock(\.pending)
    nonisolated(unsafe) let handler = completionHandler
    DispatchQueue.global().async { handler(pending.map(\.request)) }
  }

  /// The async form of `getPendingTaskRequests(completionHandler:)`.
  open func pendingTaskRequests() async -> [BGTaskRequest] {
    state.withLock(\.pending).map(\.request)
  }
}

// For the program, in place of Apple's system.
extension BGTaskScheduler {
  /// Installs the sink that runs the tasks. `permittedIdentifiers` are those that an app's Info.plist
  /// lists under `BGTaskSchedulerPermittedIdentifiers`.
  public func install(_ sink: any BackgroundTaskSink, permittedIdentifiers: Set<String>) {
    state.withLock {
      $0.sink = sink
      $0.permitted = permittedIdentifiers
    }
  }

  /// Runs a pending task now. The program calls it; on an iPhone the system does this.
  ///
  /// Returns nil if there is no pending request or no registered handler for the identifier.
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
    registration.queue.async { registration.launch(BGTask.of(kind, running)) }
    return running
  }

  /// Changes the state and notifies the sink if the pending requests changed.
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

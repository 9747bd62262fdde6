// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Apple's scheduler of background work, on Linux.
///
/// It stores the app's registrations and requests. The program decides when a task runs: it installs a
/// `BackgroundTaskSink` and calls `launch(_:)`. Without a sink no task would ever run, so `submit(_:)`
/// fails with `.unavailable`, as on Apple's systems when background refresh is turned off.
public final class BGTaskScheduler: Sendable {
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

  /// The scheduler of this process.
  public static let shared = BGTaskScheduler()

  private let state = Mutex(State())

  /// A separate scheduler, for a program with several devices.
  package init() {}

  /// Installs the sink that runs the tasks. `permittedIdentifiers` are those that an app's Info.plist
  /// lists under `BGTaskSchedulerPermittedIdentifiers`.
  public func install(_ sink: any BackgroundTaskSink, permittedIdentifiers: Set<String>) {
    state.withLock {
      $0.sink = sink
      $0.permitted = permittedIdentifiers
    }
  }

  /// Registers the handler that is called when the task is launched, on `queue` or, if that is nil, on a
  /// queue of the scheduler.
  ///
  /// Returns `false` if the identifier is not permitted or is already registered. Apple's system stops
  /// the app at a second registration; here the first one stays.
  @discardableResult
  public func register(
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

  /// Cancels the pending request with this identifier. A running task is not affected.
  public func cancel(taskRequestWithIdentifier identifier: String) {
    change { $0.pending.removeAll { $0.identifier == identifier } }
  }

  /// Cancels all pending requests.
  public func cancelAllTaskRequests() {
    change { $0.pending = [] }
  }

  /// Returns the pending requests.
  public func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void) {
    let pending = state.withLock(\.pending)
    nonisolated(unsafe) let handler = completionHandler
    DispatchQueue.global().async { handler(pending.map(\.request)) }
  }

  /// The async form of `getPendingTaskRequests(completionHandler:)`.
  public func pendingTaskRequests() async -> [BGTaskRequest] {
    state.withLock(\.pending).map(\.request)
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

/// Runs an app's background tasks, as Apple's system does. A program on Linux implements it.
public protocol BackgroundTaskSink: Sendable {
  /// Called after each change, on the thread of the caller, with all pending requests. The sink decides when to
  /// call `BGTaskScheduler.launch(_:)`.
  func pendingTasksChanged(_ pending: [PendingBackgroundTask])
}

/// A pending request, as the sink sees it.
public struct PendingBackgroundTask: Hashable, Sendable {
  /// The identifier of the app's task.
  public let identifier: String
  /// The kind of task.
  public let kind: BackgroundTaskKind
  /// The earliest start; nil for any time.
  public let earliestBeginDate: Date?
  /// True if the task needs a network.
  public let requiresNetworkConnectivity: Bool
  /// True if the task needs external power.
  public let requiresExternalPower: Bool
}

extension PendingBackgroundTask {
  /// A new request object with these values.
  var request: BGTaskRequest {
    let request: BGTaskRequest
    switch kind {
    case .refresh: request = BGAppRefreshTaskRequest(identifier: identifier)
    case .processing:
      let processing = BGProcessingTaskRequest(identifier: identifier)
      processing.requiresNetworkConnectivity = requiresNetworkConnectivity
      processing.requiresExternalPower = requiresExternalPower
      request = processing
    }
    request.earliestBeginDate = earliestBeginDate
    return request
  }
}

/// The two kinds of background task.
public enum BackgroundTaskKind: Sendable, CaseIterable {
  /// Seconds long, to fetch something new.
  case refresh
  /// Minutes long.
  case processing
}

/// The highest numbers of pending requests; the figures are Apple's.
public enum BackgroundTaskLimit {
  /// The limit of refresh tasks.
  public static let pendingRefreshTasks = 1
  /// The limit of processing tasks.
  public static let pendingProcessingTasks = 10

  static func pending(_ kind: BackgroundTaskKind) -> Int {
    switch kind {
    case .refresh: pendingRefreshTasks
    case .processing: pendingProcessingTasks
    }
  }
}

extension BGTaskScheduler {
  /// The reason why a request is rejected. On Linux an `NSError` does not bridge back, so pass on
  /// the value.
  public struct Error: Swift.Error, Hashable, Sendable {
    /// The kind of error.
    public let code: Code

    /// An error of this code.
    public init(_ code: Code) {
      self.code = code
    }

    /// `BGTaskSchedulerErrorDomain`.
    public static var errorDomain: String { "BGTaskSchedulerErrorDomain" }
    /// Background tasks are not available.
    public static var unavailable: Code { .unavailable }
    /// There are too many pending requests.
    public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
    /// The identifier is not permitted.
    public static var notPermitted: Code { .notPermitted }
  }
}

extension BGTaskScheduler.Error: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
  public var errorDescription: String? { message }

  private var message: String {
    switch code {
    case .unavailable:
      "Background tasks are not available; install a BackgroundTaskSink in BGTaskScheduler.shared."
    case .tooManyPendingTaskRequests:
      "There are too many pending background tasks; cancel one first."
    case .notPermitted:
      "The task's identifier is not permitted; pass it to BGTaskScheduler.install."
    }
  }
}

extension BGTaskScheduler.Error {
  /// Apple's error codes, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// Background tasks are not available.
    case unavailable = 1
    /// There are too many pending requests.
    case tooManyPendingTaskRequests = 2
    /// The identifier is not permitted.
    case notPermitted = 3
  }
}

extension BGTaskScheduler.Error.Code {
  /// Lets `catch BGTaskScheduler.Error.notPermitted` match.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? BGTaskScheduler.Error)?.code == code
  }
}

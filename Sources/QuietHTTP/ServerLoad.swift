// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import Synchronization

/// The requests in progress on a server, and an estimate of the queueing delay of a new one.
///
/// A request is in progress from its last byte until its response begins, except while it waits for another server
/// or for the delay that makes all responses look alike. One that `UnchangedResponses` responds to never is. Under
/// load, the delay is the number of these requests divided by the recent completion rate (Little's law), plus the
/// time for which the request has already waited, which includes the socket's receive queue. New requests are
/// rejected before the delay exceeds `QuietLimit.queueSecondsMax`: the client of a late response has given up.
final class ServerLoad: Sendable {
  typealias Instant = ContinuousClock.Instant

  private let inWorkMax: Int
  private let now: @Sendable () -> Instant
  private let state = Mutex(State())

  private struct Waiting {
    let connection: ObjectIdentifier
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    /// The time at which the kernel received the last byte of each connection's request.
    var inWork: [ObjectIdentifier: Instant] = [:]
    /// The start of the measurement; nil while fewer than `QuietLimit.busyRequestsMin` requests are in progress.
    var busySince: Instant?
    /// The number of requests that were finished since `busySince`, weighted.
    var finished = 0.0
    /// The connections whose requests are being processed.
    var begun: Set<ObjectIdentifier> = []
    /// The requests that wait to be processed, in the order of arrival.
    var waiting = CircularBuffer<Waiting>()

    /// Removes the request of a connection from processing. Returns the continuation of the next waiting request.
    mutating func leave(_ connection: ObjectIdentifier) -> CheckedContinuation<Void, Never>? {
      guard begun.remove(connection) != nil, let next = waiting.popFirst() else { return nil }
      begun.insert(next.connection)
      return next.continuation
    }
  }

  /// Allows `inWorkMax` requests in progress.
  init(
    inWorkMax: Int = QuietLimit.requestsInWorkMax,
    now: @escaping @Sendable () -> Instant = { .now }
  ) {
    self.inWorkMax = inWorkMax
    self.now = now
  }

  /// Adds the request of a connection, of which the last byte was read.
  ///
  /// - Parameter waited: The time since the kernel received that byte.
  func begin(_ connection: ObjectIdentifier, waited: Duration = .zero) {
    state.withLock { state in
      let now = now()
      state.inWork[connection] = now - waited
      guard state.busySince == nil, state.inWork.count >= QuietLimit.busyRequestsMin else { return }
      (state.busySince, state.finished) = (now, 0)
    }
  }

  /// Waits until fewer than `QuietLimit.requestsBegunMax` requests are being processed.
  ///
  /// A request in processing is suspended several times and then queues behind all running ones. So few requests run
  /// at a time, and the others wait here, where the delay can be measured.
  func waitToBegin(_ connection: ObjectIdentifier) async {
    await withCheckedContinuation { continuation in
      let begins = state.withLock { state in
        guard state.begun.count >= QuietLimit.requestsBegunMax else {
          state.begun.insert(connection)
          return true
        }
        state.waiting.append(Waiting(connection: connection, continuation: continuation))
        return false
      }
      if begins { continuation.resume() }
    }
  }

  /// Removes a request whose response begins, or that waits for another server.
  func end(_ connection: ObjectIdentifier) { remove(connection, finished: 1) }

  /// Removes a rejected request, which does not count for the completion rate.
  func refuse(_ connection: ObjectIdentifier) { remove(connection, finished: 0) }

  private func remove(_ connection: ObjectIdentifier, finished: Double) {
    let next = state.withLock { state in
      if state.inWork.removeValue(forKey: connection) != nil {
        state.finished += finished
        if state.inWork.count < QuietLimit.busyRequestsMin { state.busySince = nil }
      }
      return state.leave(connection)
    }
    next?.resume()
  }

  /// Returns `true` if the estimated delay of the connection's request is too long.
  func isOverloaded(for connection: ObjectIdentifier) -> Bool {
    state.withLock { state in
      if state.inWork.count > inWorkMax { return true }
      guard let start = state.busySince else { return false }
      let now = now()
      let waited = state.inWork[connection].map { (now - $0) / .seconds(1) } ?? 0
      let left = QuietLimit.queueSecondsMax - waited
      guard left > 0 else { return true }
      let seconds = (now - start) / .seconds(1)
      // After a short time the measured rate is not reliable.
      guard seconds >= QuietLimit.queueSecondsMax else { return false }
      let countMax = left * state.finished / seconds
      if seconds > 2 * QuietLimit.rateSeconds {
        // Restarts the measurement with the rate as one period, so that newer requests outweigh older ones.
        state.finished *= QuietLimit.rateSeconds / seconds
        state.busySince = now - .seconds(QuietLimit.rateSeconds)
      }
      return Double(state.inWork.count) > countMax
    }
  }

  /// Returns `true` if the server is busy and the connection's request has waited too long to be processed.
  ///
  /// Then the estimate was too low, for example because a disk was slow.
  func isLate(_ connection: ObjectIdentifier) -> Bool {
    state.withLock { state in
      guard state.busySince != nil, let received = state.inWork[connection] else { return false }
      return (now() - received) / .seconds(1) > QuietLimit.beginSecondsMax
    }
  }

  /// The number of requests that wait to be processed.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// The number of requests in progress.
  var inWorkCount: Int { state.withLock { $0.inWork.count } }
}

/// The priorities of the tasks of a server.
///
/// Connections are accepted and read with a higher priority than requests are processed. Otherwise connections would
/// wait in the kernel's queues, where the delay is not known, and which drop connections when they are full.
enum ServerPriority {
  /// The priority of accepting, reading and rejecting.
  static let connections = TaskPriority.high
  private static let requests = TaskPriority.medium

  /// Processes a request in its own task. Its value is passed through a continuation: awaiting the task would escalate
  /// it to the priority of the caller.
  static func process<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let running = Mutex<Task<Void, Never>?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let task = Task(priority: requests) {
          do { continuation.resume(returning: try await work()) } catch {
            continuation.resume(throwing: error)
          }
        }
        running.withLock { $0 = task }
        if Task.isCancelled { task.cancel() }
      }
    } onCancel: {
      running.withLock { $0?.cancel() }
    }
  }
}

/// Sets the server's load and its unfinished bodies in the context of each request.
struct LoadedResponder: HTTPResponder {
  let responder: HostResponder
  let load: ServerLoad
  let bodies: UnfinishedBodies

  func respond(to request: Request, context: QuietContext) async throws -> Response {
    var context = context
    context.load = load
    context.bodies = bodies
    return try await responder.respond(to: request, context: context)
  }
}

extension QuietContext {
  /// Rejects the request if its estimated delay is too long.
  ///
  /// - Throws: `QuietRefusal.unavailable`.
  func refuseIfOverloaded() throws(QuietRefusal) {
    guard let load else { return }
    try refuse(load, if: load.isOverloaded(for: connection.id))
  }

  /// Waits until the request can be processed. `excludeFromLoad()` ends the processing.
  ///
  /// - Throws: `QuietRefusal.unavailable` if the wait was too long.
  func begin() async throws(QuietRefusal) {
    guard let load else { return }
    await load.waitToBegin(connection.id)
    try refuse(load, if: load.isLate(connection.id))
  }

  private func refuse(_ load: ServerLoad, if isRefused: Bool) throws(QuietRefusal) {
    guard isRefused else { return }
    load.refuse(connection.id)
    throw .unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
  }

  /// Marks the request as waiting for something outside this server, such as another server. From now on it is not
  /// part of the server's load.
  public func excludeFromLoad() {
    load?.end(connection.id)
  }
}

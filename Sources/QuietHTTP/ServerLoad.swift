import Hummingbird
import NIOCore
import Synchronization

/// The requests that a server works on, and an estimate of the time that one more would wait.
///
/// A request counts from its last byte until its response begins, except while it waits for another server or
/// imitates the time of another response. If many requests are in work, the wait is their number divided by the
/// rate at which they were finished lately (Little's law), and the time for which the request has already waited, in
/// the queues of the system too. New requests are refused before that exceeds `QuietLimit.queueSecondsMax`: a
/// response that comes too late costs as much as one in time, and helps less.
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
    /// When the system received the last byte of the request of each connection.
    var inWork: [ObjectIdentifier: Instant] = [:]
    /// The time since which at least `QuietLimit.busyRequestsMin` requests are in work, or a later one.
    var busySince: Instant?
    /// The requests that were finished since then.
    var finished = 0.0
    /// The connections whose requests are being processed.
    var begun: Set<ObjectIdentifier> = []
    /// Those that wait to be processed, in the order in which they came.
    var waiting = CircularBuffer<Waiting>()

    /// The request of a connection is no longer processed. Returns the request that begins instead.
    mutating func leave(_ connection: ObjectIdentifier) -> CheckedContinuation<Void, Never>? {
      guard begun.remove(connection) != nil, let next = waiting.popFirst() else { return nil }
      begun.insert(next.connection)
      return next.continuation
    }
  }

  /// Allows `inWorkMax` requests at once.
  init(
    inWorkMax: Int = QuietLimit.requestsInWorkMax,
    now: @escaping @Sendable () -> Instant = { .now }
  ) {
    self.inWorkMax = inWorkMax
    self.now = now
  }

  /// The request of a connection is complete.
  ///
  /// - Parameter waited: The time since the system received its last byte.
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
  /// A request that has begun is suspended several times, and each time waits for all that run. So few run at once, and
  /// the others wait here, where it is known for how long.
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

  /// The response begins, or the request waits for something else than this server.
  func end(_ connection: ObjectIdentifier) { remove(connection, finished: 1) }

  /// The request is refused. It says nothing about the rate at which others are finished.
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

  /// True if the request of a connection would wait too long.
  func isTooHigh(for connection: ObjectIdentifier) -> Bool {
    state.withLock { state in
      if state.inWork.count > inWorkMax { return true }
      guard let start = state.busySince else { return false }
      let now = now()
      let waited = state.inWork[connection].map { (now - $0) / .seconds(1) } ?? 0
      let left = QuietLimit.queueSecondsMax - waited
      guard left > 0 else { return true }
      let seconds = (now - start) / .seconds(1)
      // A burst says nothing about the rate yet.
      guard seconds >= QuietLimit.queueSecondsMax else { return false }
      let countMax = left * state.finished / seconds
      if seconds > 2 * QuietLimit.rateSeconds {
        // Keeps the rate with the weight of one period, so that newer requests soon outweigh older ones.
        state.finished *= QuietLimit.rateSeconds / seconds
        state.busySince = now - .seconds(QuietLimit.rateSeconds)
      }
      return Double(state.inWork.count) > countMax
    }
  }

  /// True if the request of a connection has waited so long, on a server with many, that it should not be begun.
  ///
  /// The estimate was too low then, for example because a disk was slow.
  func isLate(_ connection: ObjectIdentifier) -> Bool {
    state.withLock { state in
      guard state.busySince != nil, let received = state.inWork[connection] else { return false }
      return (now() - received) / .seconds(1) > QuietLimit.beginSecondsMax
    }
  }

  /// The number of requests that wait to be processed.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// The number of requests in work.
  var inWorkCount: Int { state.withLock { $0.inWork.count } }
}

/// The priorities of the tasks of a server.
///
/// Connections are accepted and read before requests are processed. Otherwise they would wait for the requests before
/// them, unseen in the queues of the system, which drops them when these are full.
enum ServerPriority {
  /// Of accepting and reading, and of refusals.
  static let connections = TaskPriority.high
  private static let requests = TaskPriority.medium

  /// Processes a request as a task of its own. It is not awaited as a task, because that would give it the priority of
  /// its caller.
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

/// Gives each request the load of its server.
struct LoadedResponder: HTTPResponder {
  let responder: RouterResponder<QuietContext>
  let load: ServerLoad

  func respond(to request: Request, context: QuietContext) async throws -> Response {
    var context = context
    context.load = load
    return try await responder.respond(to: request, context: context)
  }
}

extension QuietContext {
  /// - Throws: `QuietRefusal.unavailable` if the server has too much work for this request.
  func refuseIfOverloaded() throws(QuietRefusal) {
    guard let load else { return }
    try refuse(load, if: load.isTooHigh(for: connection.id))
  }

  /// Waits until the request can be processed. `waitsForOthers` then ends its part of the work.
  ///
  /// - Throws: `QuietRefusal.unavailable` if that took too long.
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

  /// Tells that the request waits from now on for something else than this server, such as another server. It no
  /// longer counts as work.
  public func waitsForOthers() {
    load?.end(connection.id)
  }
}

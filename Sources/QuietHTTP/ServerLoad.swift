import Hummingbird
import Synchronization

/// The requests that a server works on, and an estimate of the time that one more would wait.
///
/// A request counts from its last byte until its response begins, except while it waits for another server or
/// imitates the time of another response. If many requests are in work, the wait is their number divided by the
/// rate at which they were finished lately (Little's law). New requests are refused before that exceeds
/// `QuietLimit.queueSecondsMax`: a response that comes too late costs as much as one in time, and helps less.
final class ServerLoad: Sendable {
  typealias Instant = ContinuousClock.Instant

  private let inWorkMax: Int
  private let now: @Sendable () -> Instant
  private let state = Mutex(State())

  private struct State {
    var inWork: Set<ObjectIdentifier> = []
    /// The time since which at least `QuietLimit.busyRequestsMin` requests are in work, or a later one.
    var busySince: Instant?
    /// The requests that were finished since then.
    var finished = 0.0
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
  func begin(_ connection: ObjectIdentifier) {
    state.withLock { state in
      state.inWork.insert(connection)
      guard state.busySince == nil, state.inWork.count >= QuietLimit.busyRequestsMin else { return }
      (state.busySince, state.finished) = (now(), 0)
    }
  }

  /// The response begins, or the request waits for something else than this server.
  func end(_ connection: ObjectIdentifier) {
    state.withLock { state in
      guard state.inWork.remove(connection) != nil else { return }
      state.finished += 1
      if state.inWork.count < QuietLimit.busyRequestsMin { state.busySince = nil }
    }
  }

  /// The request is refused. It says nothing about the rate at which others are finished.
  func refuse(_ connection: ObjectIdentifier) {
    state.withLock { state in
      guard state.inWork.remove(connection) != nil else { return }
      if state.inWork.count < QuietLimit.busyRequestsMin { state.busySince = nil }
    }
  }

  /// True if a new request would wait too long.
  var isTooHigh: Bool {
    state.withLock { state in
      if state.inWork.count > inWorkMax { return true }
      guard let start = state.busySince else { return false }
      let seconds = (now() - start) / .seconds(1)
      // A burst says nothing about the rate yet.
      guard seconds >= QuietLimit.queueSecondsMax else { return false }
      let waitMax = QuietLimit.queueSecondsMax * state.finished / seconds
      if seconds > 2 * QuietLimit.rateSeconds {
        // Keeps the rate with the weight of one period, so that newer requests soon outweigh older ones.
        state.finished *= QuietLimit.rateSeconds / seconds
        state.busySince = now() - .seconds(QuietLimit.rateSeconds)
      }
      return Double(state.inWork.count) > waitMax
    }
  }

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
    guard let load, load.isTooHigh else { return }
    load.refuse(connection.id)
    throw .unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
  }

  /// Tells that the request waits from now on for something else than this server, such as another server. It no
  /// longer counts as work.
  public func waitsForOthers() {
    load?.end(connection.id)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization

/// A PostgreSQL database with a few connections, each on a queue of its own that blocks in libpq.
///
/// A connection is opened when a request needs it, and again with growing pauses after it was lost. A request that was
/// not committed is repeated on the next connection within its time; so short failovers pass unnoticed.
package final class PostgreSQLDatabase: Sendable {
  private struct State {
    var idle: [Session] = []
    var count = 0
    var waiting: [any PostgreSQLRequest] = []
    var isClosed = false
    /// The message of the last failed attempt to connect; nil while the server is reached.
    var failure: String?
    /// True if no standby is used, whatever the address says.
    var needsPrimary = false
  }

  /// A connection and its queue.
  private final class Session: Sendable {
    let queue: DispatchQueue
    let connection = Mutex<PostgreSQLConnection?>(nil)
    let cancellation = Mutex<PostgreSQLCancellation?>(nil)

    init(number: Int) { queue = DispatchQueue(label: "firebreak.postgresql.\(number)") }
  }

  private let address: PostgreSQLAddress
  private let connectionsMax: Int
  private let logger: Logger
  private let state = Mutex(State())

  /// Connects at the first request.
  ///
  /// - Parameter connections: The largest number of connections.
  package init(_ address: PostgreSQLAddress, connections: Int, logger: Logger) {
    self.address = address
    connectionsMax = connections
    self.logger = logger
  }

  /// Uses no standby from now on, also if the address admits one: it accepts no changes, and is behind. The first
  /// change that a server refuses as a standby has the same effect.
  package func requirePrimary() { state.withLock { $0.needsPrimary = true } }

  /// Runs `body` in a transaction, which is rolled back if it throws.
  ///
  /// - Parameters:
  ///   - mode: The isolation of the transaction.
  ///   - seconds: The time for one attempt, without the wait for a connection.
  ///   - isRepeatable: True if a second commit of the same transaction has no effect. Then it is repeated also if it
  ///     is unknown whether the first attempt was committed.
  ///   - body: The statements; it may run several times, on a thread that may block.
  /// - Throws: `PostgreSQLError`; the error of `body`; `CancellationError`.
  package func transaction<Value: Sendable>(
    _ mode: PostgreSQLTransaction.Mode = .readCommitted,
    seconds: Double = PostgreSQLLimit.requestSeconds, isRepeatable: Bool = false,
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value {
    let request = Request(
      mode: mode, seconds: seconds * address.timeFactor, isRepeatable: isRepeatable, body: body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        request.begin(continuation)
        submit(request)
      }
    } onCancel: {
      request.cancel()
    }
  }

  /// Runs `body` once in a transaction on a connection of its own, and blocks the thread: for a transaction inside one
  /// of another database.
  ///
  /// - Throws: `PostgreSQLError`; the error of `body`.
  package func blockingTransaction<Value>(
    _ mode: PostgreSQLTransaction.Mode = .readCommitted, seconds: Double,
    _ body: (PostgreSQLTransaction) throws -> Value
  ) throws -> Value {
    let connection = try connect()
    let transaction = PostgreSQLTransaction(
      on: connection, mode, until: .now + .seconds(seconds * address.timeFactor))
    do {
      let value = try body(transaction)
      try transaction.commit()
      return value
    } catch {
      transaction.rollBack()
      throw error
    }
  }

  /// Closes the connections. Later and waiting requests fail.
  package func close() {
    let (idle, waiting) = state.withLock { state in
      state.isClosed = true
      defer { (state.idle, state.waiting) = ([], []) }
      return (state.idle, state.waiting)
    }
    for request in waiting { request.fail(Self.closed) }
    for session in idle { session.connection.withLock { $0 = nil } }
  }

  private var connectionWaitSeconds: Double {
    PostgreSQLLimit.connectionWaitSeconds * address.timeFactor
  }

  private static let closed = PostgreSQLError(.unavailable, "the database was closed")

  private func submit(_ request: some PostgreSQLRequest) {
    let session = state.withLock { state -> Session? in
      if let session = state.idle.popLast() { return session }
      if state.count < connectionsMax, !state.isClosed {
        state.count += 1
        return Session(number: state.count)
      }
      state.waiting.append(request)
      return nil
    }
    guard let session else {
      if state.withLock({ $0.isClosed }) { return request.fail(Self.closed) }
      return expireLater(request)
    }
    session.queue.async { self.run(request, on: session) }
  }

  /// Fails a waiting request if all connections are busy for too long, such as with a server that hangs.
  private func expireLater(_ request: some PostgreSQLRequest) {
    DispatchQueue.global().asyncAfter(
      deadline: .now() + connectionWaitSeconds
    ) {
      let failure = self.state.withLock { $0.failure }
      request.expire(failure ?? "all connections are busy")
    }
  }

  /// Runs `first` and then the requests that wait.
  private func run(_ first: any PostgreSQLRequest, on session: Session) {
    var next: (any PostgreSQLRequest)? = first
    while let request = next {
      if request.start({ session.cancellation.withLock { $0 }?.cancel() }) {
        session.connection.withLock { attempt(request, on: &$0, of: session) }
      }
      next = state.withLock { state in
        guard state.isClosed || state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.idle.append(session)
        return nil
      }
    }
    if state.withLock({ $0.isClosed }) { session.connection.withLock { $0 = nil } }
  }

  /// Runs a request until it has a result that no repetition can improve.
  private func attempt(
    _ request: some PostgreSQLRequest, on connection: inout PostgreSQLConnection?,
    of session: Session
  ) {
    var backoff = Backoff()
    var repetitions = 0
    let deadline = ContinuousClock.now + .seconds(connectionWaitSeconds)
    while !request.isCancelled {
      do throws(PostgreSQLError) {
        if needsPrimary, connection?.isOfPrimary == false { connection = nil }
        let open: PostgreSQLConnection
        if let connection { open = connection } else { open = try connect(session) }
        connection = open
        defer { if !open.isUsable { connection = nil } }
        return try request.run(on: open)
      } catch {
        if error.endsConnection { connection = nil }
        if error.kind == .readOnly { requirePrimary() }
        let mayRepeat =
          error.kind == .unavailable || error.isRepeatable
          || (error.kind == .outcomeUnknown && request.isRepeatable)
        repetitions += 1
        guard mayRepeat, ContinuousClock.now < deadline,
          error.kind != .conflict || repetitions <= PostgreSQLLimit.repetitionsMax
        else { return request.fail(error) }
        backoff.pause(until: deadline)
      }
    }
    request.fail(CancellationError())
  }

  private func connect(_ session: Session) throws(PostgreSQLError) -> PostgreSQLConnection {
    guard !state.withLock({ $0.isClosed }) else { throw Self.closed }
    do {
      let connection = try connect()
      session.cancellation.withLock { $0 = connection.cancellation }
      report(nil, connection.server)
      return connection
    } catch {
      report(error.message, nil)
      throw error
    }
  }

  private func connect() throws(PostgreSQLError) -> PostgreSQLConnection {
    try PostgreSQLConnection(
      to: needsPrimary ? address.ofPrimary : address,
      statementSeconds: Int(PostgreSQLLimit.longRequestSeconds))
  }

  private var needsPrimary: Bool { state.withLock { $0.needsPrimary } }

  /// Logs when the server is reached for the first time or again, and when it is not.
  private func report(_ failure: String?, _ server: String?) {
    let earlier = state.withLock { state in
      defer { state.failure = failure }
      return state.failure
    }
    let name = address.databaseName
    if let failure, earlier == nil {
      logger.error(
        "the database \(name) cannot be reached: \(failure); check the server and the address")
    } else if failure == nil, earlier != nil, let server {
      logger.notice("the database \(name) is reached again at \(server)")
    }
  }
}

/// Growing pauses between attempts.
private struct Backoff {
  private var seconds = PostgreSQLLimit.firstPauseSeconds

  /// Blocks for the next pause, at most until `deadline`.
  mutating func pause(until deadline: ContinuousClock.Instant) {
    let left = max(0, (deadline - .now).wholeMilliseconds)
    poll(nil, 0, Int32(min(Int64(seconds * 1_000), left)))
    seconds = min(seconds * 2, PostgreSQLLimit.pauseSecondsMax)
  }
}

/// A request of any result.
private protocol PostgreSQLRequest: Sendable {
  var isRepeatable: Bool { get }
  var isCancelled: Bool { get }
  /// Returns false if the request has its result already.
  func start(_ cancel: @escaping @Sendable () -> Void) -> Bool
  func run(on connection: PostgreSQLConnection) throws(PostgreSQLError)
  func fail(_ error: any Error)
  /// Fails if the request has not been started.
  func expire(_ reason: String)
}

/// A transaction that waits, runs or has its result.
private final class Request<Value: Sendable>: PostgreSQLRequest {
  private enum State {
    case waiting
    case running(cancel: @Sendable () -> Void)
    case ended
  }

  private struct Shared {
    var state = State.waiting
    var isCancelled = false
    var continuation: CheckedContinuation<Value, any Error>?
  }

  private let mode: PostgreSQLTransaction.Mode
  private let seconds: Double
  let isRepeatable: Bool
  private let body: @Sendable (PostgreSQLTransaction) throws -> Value
  private let shared = Mutex(Shared())

  init(
    mode: PostgreSQLTransaction.Mode, seconds: Double, isRepeatable: Bool,
    body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) {
    self.mode = mode
    self.seconds = seconds
    self.isRepeatable = isRepeatable
    self.body = body
  }

  var isCancelled: Bool { shared.withLock { $0.isCancelled } }

  func begin(_ continuation: CheckedContinuation<Value, any Error>) {
    let isCancelled = shared.withLock { shared in
      shared.continuation = continuation
      return shared.isCancelled
    }
    if isCancelled { fail(CancellationError()) }
  }

  func start(_ cancel: @escaping @Sendable () -> Void) -> Bool {
    shared.withLock { shared in
      guard case .waiting = shared.state else { return false }
      shared.state = .running(cancel: cancel)
      return true
    }
  }

  /// Runs the transaction once. An error of `body` is the result, unless it is one of the database.
  func run(on connection: PostgreSQLConnection) throws(PostgreSQLError) {
    let transaction = PostgreSQLTransaction(
      on: connection, mode, until: .now + .seconds(seconds))
    do {
      let value = try body(transaction)
      try transaction.commit()
      end(.success(value))
    } catch let error as PostgreSQLError {
      transaction.rollBack()
      throw error
    } catch {
      transaction.rollBack()
      end(.failure(error))
    }
  }

  func fail(_ error: any Error) {
    end(.failure(isCancelled ? CancellationError() : error))
  }

  func expire(_ reason: String) {
    let isWaiting = shared.withLock { shared in
      guard case .waiting = shared.state else { return false }
      return true
    }
    if isWaiting { fail(PostgreSQLError(.unavailable, reason)) }
  }

  func cancel() {
    let (cancel, isWaiting) = shared.withLock { shared -> ((@Sendable () -> Void)?, Bool) in
      shared.isCancelled = true
      switch shared.state {
      case .waiting: return (nil, shared.continuation != nil)
      case .running(let cancel): return (cancel, false)
      case .ended: return (nil, false)
      }
    }
    if isWaiting { fail(CancellationError()) }
    // Cancelling needs a connection and blocks.
    if let cancel { DispatchQueue.global().async(execute: cancel) }
  }

  private func end(_ result: Result<Value, any Error>) {
    let continuation = shared.withLock { shared in
      shared.state = .ended
      defer { shared.continuation = nil }
      return shared.continuation
    }
    continuation?.resume(with: result)
  }
}

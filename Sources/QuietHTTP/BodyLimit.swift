// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import Synchronization

/// The size and time limits of a request body.
public struct BodyLimit: Sendable, Hashable {
  /// The maximum size, in bytes.
  public var bytesMax: Int
  /// The maximum time for sending the body, in seconds.
  public var secondsMax: Int

  /// Creates a limit.
  public init(bytesMax: Int, secondsMax: Int = QuietLimit.bodySecondsMax) {
    self.bytesMax = bytesMax
    self.secondsMax = secondsMax
  }

  /// Reads the body of `request` and never holds more than `bytesMax` of it.
  ///
  /// - Throws: `.wrongContentType`, `.bodyTooLarge`, `.bodyTooSlow`, or `.malformed` if the client
  ///   disconnects before the end.
  func body(
    of request: Request, in context: QuietContext, _ timeouts: BodyTimeouts,
    types: [String]? = ["application/json"]
  ) async throws(QuietRefusal) -> Data {
    if let types, !Self.isOne(of: types, request.headers[.contentType]) { throw .wrongContentType }
    // The header has only digits. A number that is too large is the largest.
    let announced = request.headers[.contentLength].map { Int($0) ?? .max }
    if let announced, announced > bytesMax { throw .bodyTooLarge(bytesMax: bytesMax) }
    if request.headers[.expect] != nil { context.connection.continueBody() }
    do {
      let body = try await context.connection.reading(
        within: secondsMax, timeouts, of: context.client, in: context.bodies
      ) { received in
        try await collected(request.body, received)
      }
      guard let body else { throw QuietRefusal.bodyTooSlow }
      if let announced, body.count < announced { throw QuietRefusal.malformed }
      return body
    } catch let refusal as QuietRefusal {
      throw refusal
    } catch {
      throw .malformed
    }
  }

  private func collected(_ body: RequestBody, _ received: (Int) -> Void) async throws -> Data {
    var data = Data()
    for try await chunk in body {
      received(chunk.readableBytes)
      guard data.count + chunk.readableBytes <= bytesMax else {
        throw QuietRefusal.bodyTooLarge(bytesMax: bytesMax)
      }
      data.append(contentsOf: chunk.readableBytesView)
    }
    return data
  }

  /// True if the type is one of `types`, with or without parameters.
  private static func isOne(of types: [String], _ contentType: String?) -> Bool {
    guard let contentType else { return false }
    if types.contains(contentType) { return true }
    let type = contentType.split(separator: ";", maxSplits: 1).first
    return type.map { types.contains($0.trimmingCharacters(in: .whitespaces).lowercased()) }
      ?? false
  }
}

/// The timeouts of all bodies that a route is reading, with one sleeping task for all of them.
///
/// A timer per connection would wake its event loop twice per request, to start and to cancel it,
/// although it almost never fires.
final class BodyTimeouts: Sendable {
  typealias Action = @Sendable () -> Void
  typealias Instant = ContinuousClock.Instant

  /// The polling interval; a timeout may fire this much late.
  static let pollingInterval = Duration.seconds(1)

  private let now: @Sendable () -> Instant
  private let sleep: @Sendable (_ until: Instant) async throws -> Void
  private let state = Mutex(State())

  private struct State {
    var timeouts: [Int: (end: Instant, action: Action)] = [:]
    var count = 0
    var isPolling = false
  }

  /// Uses the monotonic clock by default.
  init(
    now: @escaping @Sendable () -> Instant = { .now },
    sleep: @escaping @Sendable (_ until: Instant) async throws -> Void = {
      try await ContinuousClock().sleep(until: $0)
    }
  ) {
    self.now = now
    self.sleep = sleep
  }

  /// Runs `action` after `seconds` unless `end` is called before with the returned number.
  func begin(seconds: Int, _ action: @escaping Action) -> Int {
    let end = now() + .seconds(seconds)
    let (number, wasPolling) = state.withLock { state in
      state.count += 1
      state.timeouts[state.count] = (end, action)
      defer { state.isPolling = true }
      return (state.count, state.isPolling)
    }
    if !wasPolling { Task { await poll() } }
    return number
  }

  /// Cancels the timeout of that number.
  func end(_ number: Int) {
    state.withLock { $0.timeouts[number] = nil }
  }

  /// Polls while there is a timeout.
  private func poll() async {
    // Nothing cancels this task, and cancellation is the only error.
    repeat { try? await sleep(now() + Self.pollingInterval) } while fireOverdue()
  }

  /// Returns `true` if timeouts remain.
  private func fireOverdue() -> Bool {
    let now = now()
    let (overdue, isPolling) = state.withLock { state in
      let overdue = state.timeouts.filter { $0.value.end <= now }
      for number in overdue.keys { state.timeouts[number] = nil }
      state.isPolling = !state.timeouts.isEmpty
      return (overdue.values.map(\.action), state.isPolling)
    }
    for action in overdue { action() }
    return isPolling
  }
}

/// Reads bodies for routes that are no `QuietRoute`, such as the forms of web pages, with the same limits.
public struct RequestBodies: Sendable {
  private let timeouts = BodyTimeouts()

  /// Creates a reader. All routes of a server can share it.
  public init() {}

  /// Reads the body of `request` if its media type is one of `types`, and never holds more than `limit` of it.
  ///
  /// - Throws: `.wrongContentType`, `.bodyTooLarge`, `.bodyTooSlow`, `.malformed` if the client disconnects
  ///   before the end, or `.unavailable` if the server has too much work.
  public func body(
    of request: Request, in context: QuietContext, types: [String], limit: BodyLimit
  ) async throws(QuietRefusal) -> Data {
    let body = try await limit.body(of: request, in: context, timeouts, types: types)
    try context.refuseIfOverloaded()
    return body
  }

  /// The request with its whole body, for routes that read the body without a limit of time.
  ///
  /// - Throws: `.bodyTooLarge`, `.bodyTooSlow`, or `.malformed` if the client disconnects before the end.
  package func received(
    _ request: Request, in context: QuietContext, limit: BodyLimit
  ) async throws(QuietRefusal) -> Request {
    guard request.mayHaveBody else { return request }
    var request = request
    let body = try await limit.body(of: request, in: context, timeouts, types: nil)
    request.body = RequestBody(buffer: ByteBuffer(bytes: body))
    return request
  }
}

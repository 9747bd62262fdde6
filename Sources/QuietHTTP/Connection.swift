import Hummingbird
import Synchronization

/// The connection of one request.
///
/// Socket timeouts use the system's clock, not the injected one: a simulation that skips a day must
/// not cut off requests in progress.
final class Connection: Sendable {
  /// The identity of the connection while it is open.
  let id: ObjectIdentifier
  /// The address of the peer, which is the client or a proxy.
  let peer: NumericAddress?
  /// Both ends of the connection.
  let endpoints: LocalPeer.Endpoints?
  private let schedule: @Sendable (_ seconds: Int, _ action: @escaping @Sendable () -> Void) -> Void
  private let stopListening: @Sendable () -> Void
  private let closeNow: @Sendable () -> Void
  private let announceBody: @Sendable () -> Void
  private let passEventLoop: @Sendable () async throws -> Void
  private let progress = Mutex(Progress())

  private struct Progress {
    var bodyIsRead = false
    var timeIsUp = false
  }

  init(_ source: ApplicationRequestContextSource) {
    let channel = source.channel
    id = ObjectIdentifier(channel)
    peer = NumericAddress(channel.remoteAddress)
    endpoints = LocalPeer.Endpoints(local: channel.localAddress, remote: channel.remoteAddress)
    schedule = { seconds, action in
      _ = channel.eventLoop.scheduleTask(in: .seconds(Int64(seconds)), action)
    }
    stopListening = { channel.close(mode: .input, promise: nil) }
    closeNow = { channel.close(mode: .all, promise: nil) }
    announceBody = { channel.triggerUserOutboundEvent(RequestHeads.ReadsBody(), promise: nil) }
    passEventLoop = { try await channel.eventLoop.submit {}.get() }
  }

  /// True if the whole body was read, so that the connection can be used for the next request.
  var bodyIsRead: Bool { progress.withLock { $0.bodyIsRead } }

  /// Tells a client that waits for `100 Continue` to send the body.
  func continueBody() { announceBody() }

  /// Runs `read` and stops receiving from the peer after `seconds`.
  ///
  /// - Returns: The result of `read`, or nil after a timeout.
  func reading<Value>(
    within seconds: Int, _ timeouts: BodyTimeouts, _ read: () async throws -> Value
  ) async throws -> Value? {
    let number = timeouts.begin(seconds: seconds) { [self] in
      progress.withLock { $0.timeIsUp = true }
      stopListening()
    }
    defer { timeouts.end(number) }
    do {
      let value = try await read()
      guard !timeIsUp else { return nil }
      progress.withLock { $0.bodyIsRead = true }
      return value
    } catch  where timeIsUp {
      return nil
    }
  }

  /// Closes the connection after `seconds`, even if the peer is still sending.
  func close(after seconds: Int) {
    schedule(seconds, closeNow)
  }

  /// Waits until everything that was written has been passed to the channel.
  ///
  /// While the event loop is busy, a writer does not apply backpressure and could fill the memory.
  func passWrites() async throws {
    try await passEventLoop()
  }

  private var timeIsUp: Bool { progress.withLock { $0.timeIsUp } }
}

import Hummingbird
import Synchronization

/// The connection of one request: where its peer is, and how to hang up on it.
///
/// The time of a socket is the machine's own, never the clock that a server is handed: a town that
/// skips a day must not cut off a request that is on its way.
final class Connection: Sendable {
  /// Where the peer of this connection is, be it the client or a proxy before us.
  let peer: NumericAddress?
  /// Does something after so many seconds.
  private let schedule: @Sendable (_ seconds: Int, _ act: @escaping @Sendable () -> Void) -> Void
  private let stopListening: @Sendable () -> Void
  private let close: @Sendable () -> Void
  private let progress = Mutex(Progress())

  private struct Progress {
    var bodyIsRead = false
    var timeIsUp = false
  }

  init(_ source: ApplicationRequestContextSource) {
    let channel = source.channel
    peer = NumericAddress(channel.remoteAddress)
    schedule = { seconds, act in
      _ = channel.eventLoop.scheduleTask(in: .seconds(Int64(seconds)), act)
    }
    stopListening = { channel.close(mode: .input, promise: nil) }
    close = { channel.close(mode: .all, promise: nil) }
  }

  /// Whether the whole body has come in, so that the next request may follow on this connection.
  var bodyIsRead: Bool { progress.withLock { $0.bodyIsRead } }

  /// Runs `read`; after `seconds`, as `deadlines` sees them, the peer is no longer listened to.
  ///
  /// - Returns: What was read, or nil where time was up before.
  func reading<Value>(
    within seconds: Int, _ deadlines: ReadingDeadlines, _ read: () async throws -> Value
  ) async throws -> Value? {
    let number = deadlines.begin(seconds: seconds) { [self] in
      progress.withLock { $0.timeIsUp = true }
      stopListening()
    }
    defer { deadlines.end(number) }
    do {
      let value = try await read()
      guard !timeIsUp else { return nil }
      progress.withLock { $0.bodyIsRead = true }
      return value
    } catch  where timeIsUp {
      return nil
    }
  }

  /// Closes the connection after `seconds`, whatever the peer still sends.
  func hangUp(after seconds: Int) {
    schedule(seconds, close)
  }

  private var timeIsUp: Bool { progress.withLock { $0.timeIsUp } }
}

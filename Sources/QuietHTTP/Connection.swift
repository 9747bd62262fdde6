import Hummingbird
import Synchronization

/// The connection of one request: where its peer is, and how to hang up on it.
///
/// The time of a socket is the machine's own, never the clock that a server is handed: a town that
/// skips a day must not cut off a request that is on its way.
final class Connection: Sendable {
  private typealias Act = @Sendable () -> Void

  private let address: @Sendable () -> String?
  /// Does something after so many seconds; what it returns takes that back.
  private let schedule: @Sendable (_ seconds: Int, _ act: @escaping Act) -> Act
  private let stopListening: Act
  private let close: Act
  private let progress = Mutex(Progress())

  private struct Progress {
    var bodyIsRead = false
    var timeIsUp = false
  }

  init(_ source: ApplicationRequestContextSource) {
    let channel = source.channel
    address = { channel.remoteAddress?.ipAddress }
    schedule = { seconds, act in
      let scheduled = channel.eventLoop.scheduleTask(in: .seconds(Int64(seconds)), act)
      return { scheduled.cancel() }
    }
    stopListening = { channel.close(mode: .input, promise: nil) }
    close = { channel.close(mode: .all, promise: nil) }
  }

  /// Where the peer of this connection is, be it the client or a proxy before us.
  var peer: NumericAddress? { address().flatMap { NumericAddress($0) } }

  /// Whether the whole body has come in, so that the next request may follow on this connection.
  var bodyIsRead: Bool { progress.withLock { $0.bodyIsRead } }

  /// Runs `read`; after `seconds` the peer is no longer listened to.
  ///
  /// - Returns: What was read, or nil where time was up before.
  func reading<Value>(within seconds: Int, _ read: () async throws -> Value) async throws -> Value?
  {
    let takeBack = schedule(seconds) { [self] in
      progress.withLock { $0.timeIsUp = true }
      stopListening()
    }
    defer { takeBack() }
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
    _ = schedule(seconds, close)
  }

  private var timeIsUp: Bool { progress.withLock { $0.timeIsUp } }
}

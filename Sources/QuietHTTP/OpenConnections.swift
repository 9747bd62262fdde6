import Synchronization

/// The open connections of a server and the memory that they use.
///
/// When all connections are taken, the one that has been idle longest is closed, so that connections without
/// a request cannot shut out requests. When the clients leave too many bytes unread, the connection that has
/// been unread longest is closed.
final class OpenConnections: Sendable {
  /// Closes a connection; called outside the lock.
  typealias Close = @Sendable () -> Void

  private let countMax: Int
  private let unreadBytesMax: Int
  private let state = Mutex(State())

  /// Allows `countMax` connections with `unreadBytesMax` bytes of responses that are not sent yet.
  init(countMax: Int, unreadBytesMax: Int = QuietLimit.unreadBytesMax) {
    self.countMax = countMax
    self.unreadBytesMax = unreadBytesMax
  }

  /// Counts a new connection, which is idle until its first request.
  func begin(_ id: ObjectIdentifier, close: @escaping Close) {
    let evicted = state.withLock { state -> Close? in
      state.count += 1
      let oldest = state.count < countMax ? nil : state.takeOldestIdle()
      state.setIdle(id, close)
      return oldest
    }
    evicted?()
  }

  /// A request has begun on the connection.
  func beginRequest(_ id: ObjectIdentifier) {
    state.withLock { _ = $0.idle.removeValue(forKey: id) }
  }

  /// The client has been sent all responses. If all connections are taken, others may be waiting, so the one
  /// that has been idle longest is closed.
  func endRequest(_ id: ObjectIdentifier, close: @escaping Close) {
    let evicted = state.withLock { state -> Close? in
      state.setIdle(id, close)
      return state.count < countMax ? nil : state.takeOldestIdle()
    }
    evicted?()
  }

  /// Sets the bytes of responses that wait in the server for the client to read.
  func setUnread(_ bytes: Int, _ id: ObjectIdentifier, close: @escaping Close) {
    let evicted = state.withLock { state -> Close? in
      state.setUnread(bytes, id, close)
      guard state.unreadBytes > unreadBytesMax,
        let oldest = state.unread.min(by: { $0.value.since < $1.value.since })
      else { return nil }
      state.setUnread(0, oldest.key, close)
      return oldest.value.close
    }
    evicted?()
  }

  /// Forgets a closed connection.
  func end(_ id: ObjectIdentifier) {
    state.withLock { state in
      state.count -= 1
      state.idle[id] = nil
      state.setUnread(0, id) {}
    }
  }

  /// The number of idle connections.
  var idleCount: Int { state.withLock { $0.idle.count } }

  /// The bytes of all responses that wait in the server.
  var unreadBytes: Int { state.withLock { $0.unreadBytes } }

  private struct Idle {
    let since: UInt64
    let close: Close
  }

  private struct Unread {
    var bytes: Int
    let since: UInt64
    let close: Close
  }

  private struct State {
    var count = 0
    var idle: [ObjectIdentifier: Idle] = [:]
    var unread: [ObjectIdentifier: Unread] = [:]
    var unreadBytes = 0
    /// Increases with each event, which orders connections by time.
    private var events: UInt64 = 0

    mutating func setIdle(_ id: ObjectIdentifier, _ close: @escaping Close) {
      events += 1
      idle[id] = Idle(since: events, close: close)
    }

    mutating func takeOldestIdle() -> Close? {
      guard let oldest = idle.min(by: { $0.value.since < $1.value.since }) else { return nil }
      return idle.removeValue(forKey: oldest.key)?.close
    }

    mutating func setUnread(_ bytes: Int, _ id: ObjectIdentifier, _ close: @escaping Close) {
      unreadBytes += bytes - (unread[id]?.bytes ?? 0)
      guard bytes > 0 else {
        unread[id] = nil
        return
      }
      events += 1
      unread[id] = Unread(bytes: bytes, since: unread[id]?.since ?? events, close: close)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Installs our channel handlers at the pipeline positions they need, and limits the connections of one
/// address.
///
/// The HTTP library would add all of them behind its own. If a handler cannot be installed, the
/// connection is closed.
final class ConnectionHandlers: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let limits: ConnectionLimits
  private let counts: ConnectionCounts
  private let connections: OpenConnections
  private let load: ServerLoad
  private let dates: ResponseDates
  private let unchanged: UnchangedDocuments
  private let logger: Logger

  init(
    _ limits: ConnectionLimits, _ counts: ConnectionCounts, _ connections: OpenConnections,
    _ load: ServerLoad, _ dates: ResponseDates, _ unchanged: UnchangedDocuments, _ logger: Logger
  ) {
    self.load = load
    self.dates = dates
    self.unchanged = unchanged
    self.logger = logger
    self.limits = limits
    self.counts = counts
    self.connections = connections
  }

  func handlerAdded(context: ChannelHandlerContext) {
    do {
      let pipeline = context.pipeline.syncOperations
      // Here the version of the request is still known.
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      let responses =
        unchanged.isEmpty
        ? nil : UnchangedResponses(unchanged, dates, idleSeconds: limits.idleSeconds)
      if let responses { try pipeline.addHandler(responses, position: .after(decoder)) }
      try pipeline.addHandler(RequestHeads(logger: logger), position: .after(decoder))
      try pipeline.addHandler(
        PipelinedRequests(connections, load, responses), position: .after(decoder))
      try pipeline.addHandler(ResponseDateHandler(dates), position: .after(decoder))
      // Here responses are bytes.
      try pipeline.addHandler(
        SlowReaderHandler(seconds: limits.responseSeconds, connections), position: .first)
      try Self.limitBuffers(context.channel)
    } catch {
      context.close(promise: nil)
    }
  }

  /// Limits the memory of one connection. By default, four reads are held at once, and the system keeps
  /// megabytes of responses that the client does not read.
  private static func limitBuffers(_ channel: any Channel) throws {
    guard let options = channel.syncOptions else { return }
    try options.setOption(.maxMessagesPerRead, value: 1)
    try options.setOption(
      .socketOption(.so_sndbuf), value: SocketOptionValue(QuietLimit.sendBufferBytes))
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    if let prefix = counts.prefix(of: NumericAddress(context.remoteAddress)) {
      guard counts.begin(prefix) else { return context.close(promise: nil) }
      channel.closeFuture.whenComplete { [counts] _ in counts.end(prefix) }
    }
    connections.begin(ObjectIdentifier(channel)) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { [connections, load] _ in
      connections.end(ObjectIdentifier(channel))
      load.end(ObjectIdentifier(channel))
    }
    context.fireChannelActive()
  }
}

/// The number of open connections per address, so that one client cannot use up all connections.
///
/// Addresses are counted by prefix and kept only while they have a connection. Connections of trusted
/// proxies are not counted, because many clients share them.
final class ConnectionCounts: Sendable {
  private let countMax: Int
  private let trustedProxies: TrustedProxies
  private let counts = Mutex<[AddressPrefix: Int]>([:])

  /// Allows each address `countMax` connections, except `trustedProxies`.
  init(countMax: Int, trustedProxies: TrustedProxies) {
    self.countMax = countMax
    self.trustedProxies = trustedProxies
  }

  /// The prefix that a connection of `peer` is counted by, or nil if it is not counted.
  func prefix(of peer: NumericAddress?) -> AddressPrefix? {
    guard let peer, !trustedProxies.isTrusted(peer) else { return nil }
    return AddressPrefix(peer)
  }

  /// Counts a new connection. Returns `false`, without counting, if the address has too many.
  func begin(_ prefix: AddressPrefix) -> Bool {
    counts.withLock { counts in
      let count = counts[prefix, default: 0]
      guard count < countMax else { return false }
      counts[prefix] = count + 1
      return true
    }
  }

  /// Uncounts a closed connection.
  func end(_ prefix: AddressPrefix) {
    counts.withLock { counts in
      guard let count = counts[prefix] else { return }
      counts[prefix] = count > 1 ? count - 1 : nil
    }
  }

  /// The number of addresses in memory.
  var addressCount: Int { counts.withLock { $0.count } }
}

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
      let oldest = state.openCount < countMax ? nil : state.takeOldestIdle()
      state.setIdle(id, close)
      return oldest
    }
    evicted?()
  }

  /// Marks the connection as busy when a request begins.
  func beginRequest(_ id: ObjectIdentifier) {
    state.withLock { state in
      state.idle[id] = nil
      // A connection that was told to close stays open if a request has begun before.
      state.closing.remove(id)
    }
  }

  /// Marks the connection as idle when all responses were sent. If all connections are taken, new ones may be
  /// waiting, so the connection that has been idle longest is closed.
  func endRequest(_ id: ObjectIdentifier, close: @escaping Close) {
    let evicted = state.withLock { state -> Close? in
      state.setIdle(id, close)
      return state.openCount < countMax ? nil : state.takeOldestIdle()
    }
    evicted?()
  }

  /// Sets the number of response bytes that are buffered for the client.
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

  /// Removes a closed connection.
  func end(_ id: ObjectIdentifier) {
    state.withLock { state in
      state.count -= 1
      state.closing.remove(id)
      state.idle[id] = nil
      state.setUnread(0, id) {}
    }
  }

  /// The number of idle connections.
  var idleCount: Int { state.withLock { $0.idle.count } }

  /// The number of response bytes that are buffered for all clients.
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
    /// The connections that were told to close. Each makes room for one that waits, so no other is closed for it.
    var closing: Set<ObjectIdentifier> = []
    var idle: [ObjectIdentifier: Idle] = [:]
    var unread: [ObjectIdentifier: Unread] = [:]
    var unreadBytes = 0
    /// The number of events so far: a logical clock that orders connections by time.
    private var events: UInt64 = 0

    var openCount: Int { count - closing.count }

    mutating func setIdle(_ id: ObjectIdentifier, _ close: @escaping Close) {
      events += 1
      idle[id] = Idle(since: events, close: close)
    }

    mutating func takeOldestIdle() -> Close? {
      guard let oldest = idle.min(by: { $0.value.since < $1.value.since }) else { return nil }
      closing.insert(oldest.key)
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

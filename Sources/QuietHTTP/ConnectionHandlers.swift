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
  private let logger: Logger

  init(
    _ limits: ConnectionLimits, _ counts: ConnectionCounts, _ connections: OpenConnections,
    _ load: ServerLoad, _ logger: Logger
  ) {
    self.load = load
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
      try pipeline.addHandler(RequestHeads(logger: logger), position: .after(decoder))
      try pipeline.addHandler(PipelinedRequests(connections, load), position: .after(decoder))
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

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

  init(_ limits: ConnectionLimits, _ counts: ConnectionCounts) {
    self.limits = limits
    self.counts = counts
  }

  func handlerAdded(context: ChannelHandlerContext) {
    do {
      let pipeline = context.pipeline.syncOperations
      // Here the version of the request is still known.
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(ConnectionPersistence(), position: .after(decoder))
      // Here responses are bytes.
      try pipeline.addHandler(SlowReaderHandler(seconds: limits.responseSeconds), position: .first)
    } catch {
      context.close(promise: nil)
    }
  }

  func channelActive(context: ChannelHandlerContext) {
    if let prefix = counts.prefix(of: NumericAddress(context.remoteAddress)) {
      guard counts.begin(prefix) else { return context.close(promise: nil) }
      context.channel.closeFuture.whenComplete { [counts] _ in counts.end(prefix) }
    }
    context.fireChannelActive()
  }
}

/// Marks the requests after which the connection is closed (RFC 9112, 9.3): those of HTTP/1.0, whose
/// clients read until the end, and those with `Connection: close` in any spelling.
///
/// The HTTP library no longer knows the version of a request when it responds.
final class ConnectionPersistence: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data),
      head.version == .http1_0 || !head.isKeepAlive
    else {
      context.fireChannelRead(data)
      return
    }
    head.headers.replaceOrAdd(name: "connection", value: "close")
    context.fireChannelRead(wrapInboundOut(.head(head)))
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

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// An HTTP server on one port with limits for connections, headers, idle time and shutdown.
public final class QuietServer: Service {
  private let responder: RouterResponder<QuietContext>
  private let host: String
  private let port: Int
  private let limits: ConnectionLimits
  private let counts: ConnectionCounts
  private let logger: Logger
  private let bound = BoundPort()
  private let closed = BoundPort()

  /// Creates a server that listens when it is run.
  ///
  /// - Parameters:
  ///   - port: The port, or 0 for any free port.
  ///   - trustedProxies: Proxies whose connections are not limited by address.
  public convenience init(
    router: Router<QuietContext>, host: String, port: Int, trustedProxies: TrustedProxies = .none,
    logger: Logger
  ) {
    self.init(
      router: router, host: host, port: port, trustedProxies: trustedProxies,
      limits: ConnectionLimits(), logger: logger)
  }

  /// Creates a server with other `limits`, for tests.
  package init(
    router: Router<QuietContext>, host: String, port: Int, trustedProxies: TrustedProxies = .none,
    limits: ConnectionLimits, logger: Logger
  ) {
    responder = router.buildResponder()
    self.host = host
    self.port = port
    self.limits = limits
    counts = ConnectionCounts(
      countMax: limits.connectionsPerAddressMax, trustedProxies: trustedProxies)
    self.logger = logger
  }

  /// The port, as soon as the server listens. It is 0 if the server ended before, with the error that
  /// `run` throws.
  public var boundPort: Int {
    get async { await bound.value }
  }

  /// Waits until the server no longer listens; requests in progress may still be served.
  public func waitUntilClosed() async {
    _ = await closed.value
  }

  /// Serves until a graceful shutdown or cancellation. Requests in progress then have
  /// `QuietLimit.shutdownSeconds` to finish.
  ///
  /// - Throws: `UnknownHost`, or the system's error if the port is not available.
  public func run() async throws {
    do {
      try await serveWithinGrace()
    } catch {
      await end()
      throw UnknownHost(host, error) ?? error
    }
    await end()
  }

  private func end() async {
    await bound.settle(0)
    await closed.settle(0)
  }

  private func serveWithinGrace() async throws {
    let application = makeApplication()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask(priority: ServerPriority.connections) { try await application.run() }
      group.addTask {
        // The application stops by itself. This ends it if a request does not finish.
        try await gracefulShutdown()
        try await Task.sleep(for: .seconds(QuietLimit.shutdownSeconds))
      }
      try await group.next()
      group.cancelAll()
    }
  }

  private func makeApplication() -> Application<LoadedResponder> {
    let (limits, counts, logger) = (limits, counts, logger)
    let load = ServerLoad(inWorkMax: limits.requestsInWorkMax)
    let connections = OpenConnections(
      countMax: limits.connectionsMax, unreadBytesMax: limits.unreadBytesMax)
    return Application(
      responder: LoadedResponder(responder: responder, load: load),
      server: .http1(
        configuration: .init(
          additionalChannelHandlers: [
            ConnectionHandlers(limits, counts, connections, load, logger)
          ],
          idleTimeout: .seconds(Int64(limits.idleSeconds)),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: QuietLimit.headerBytesMax,
            maxHeaderListSize: QuietLimit.headerBytesMax,
            maxHeaderFieldCount: QuietLimit.headersMax))),
      configuration: .init(
        address: .hostname(host, port: port), backlog: QuietLimit.waitingConnectionsMax,
        availableConnectionsDelegate: .maximum(limits.connectionsMax, logger: logger)),
      onServerRunning: { [bound, closed] channel in
        channel.closeFuture.whenComplete { _ in Task { await closed.settle(0) } }
        await bound.settle(channel.localAddress?.port ?? 0)
      },
      logger: logger)
  }
}

/// Limits of connections, requests and responses, the same for all servers.
public enum QuietLimit {
  /// Open connections. For a further one the connection that has been idle longest is closed; if none is idle,
  /// it waits in the system's queue.
  public static let connectionsMax = 1_024
  /// Connections that wait in the system's queue until they are accepted. The system drops further ones, whose clients
  /// try again only after one, three and seven seconds.
  static let waitingConnectionsMax = 4_096
  /// Open connections of one address (all bits of IPv4, 64 bits of IPv6). Further ones are closed at once.
  public static let connectionsPerAddressMax = 256
  /// Seconds in which a connection must send its next complete request head.
  public static let idleSeconds = 30
  /// Seconds after which an idle connection to another server is closed.
  static let clientIdleSeconds = 5
  /// Seconds in which a client must send the body of a request, unless the route has its own limit.
  public static let bodySecondsMax = 20
  /// Seconds in which a client must read `responseBytesMin` of its pending responses, or all if that is less.
  public static let responseSecondsMax = 60
  /// Bytes of pending responses that a client must read in `responseSecondsMax`: about nine kilobits a
  /// second, less than the slowest mobile network transfers.
  public static let responseBytesMin = 64 << 10
  /// Bytes of responses of all connections that the system has not taken yet. Above it, the connection that has
  /// been unread longest is closed.
  public static let unreadBytesMax = 64 << 20
  /// The send buffer of a connection, in bytes, which the system doubles.
  public static let sendBufferBytes = 256 << 10
  /// Bytes of a file that are read at once.
  public static let fileChunkBytes = 64 << 10
  /// Requests of a connection that wait for the response to the one before them. Further ones are discarded.
  public static let pipelinedRequestsMax = 16
  /// Bytes of the bodies of these requests.
  public static let pipelinedBytesMax = 64 << 10
  /// Requests in progress, from their last byte to the beginning of their response. Further ones are rejected.
  public static let requestsInWorkMax = 768
  /// The longest estimated queueing delay of a new request, in seconds; with more, the request is rejected.
  static let queueSecondsMax = 0.5
  /// Requests that are processed at once; others wait until one of them is finished.
  static let requestsBegunMax = 128
  /// The longest wait of a request on a busy server, in seconds; after it, the request is rejected.
  static let beginSecondsMax = 0.6
  /// The number of requests in progress at which the server counts as busy and the delay is estimated.
  static let busyRequestsMin = 32
  /// Seconds over which the rate of finished requests is measured.
  static let rateSeconds = 1.0
  /// Bytes of all the headers of a request.
  public static let headerBytesMax = 16 << 10
  /// Headers of a request.
  public static let headersMax = 100
  /// Seconds in which a client can read an error response before the connection with its unread body closes.
  public static let lingerSeconds = 2
  /// Seconds for requests in progress after a shutdown signal.
  public static let shutdownSeconds = 10
  /// Seconds for the rest of a request that is not complete at a shutdown signal.
  public static let unfinishedRequestSeconds = 2
  /// The divisor of the limits of addresses and networks after half of a `FailureBudget` is used up.
  public static let slowedFailuresDivisor = 10
  /// Keys in the memory of an `AttemptBudget`, and of each level of a `FailureBudget`.
  public static let budgetKeysMax = 100_000
  /// The shortest prefix of a trusted proxy network: /8, as in 10.0.0.0/8 and fd00::/8, the widest private
  /// networks.
  public static let proxyPrefixBitsMin = 8
  /// Entries of `Netmasks`, which are searched linearly for each request.
  public static let netmasksMax = 1_000
  /// The grid of response times, in milliseconds: coarser than the differences between lookups.
  public static let responseGridMilliseconds = 5
  /// The grid of uploads, in milliseconds. It is finer, because a grid limits how many a connection can send.
  public static let uploadGridMilliseconds = 1
  /// Times of successes that a route keeps for its decoys and refusals.
  public static let responseTimesMax = 256
  /// The maximum delay of a decoy or refusal, in seconds.
  public static let decoySecondsMax = 5
  /// Reads of the system's tables of sockets in search of a connection.
  public static let socketTableReads = 3
  /// The `Retry-After` of 503, in seconds.
  public static let retryAfterSeconds = 30
}

/// The connection limits of one server: those of `QuietLimit`, except in tests and with few file descriptors.
package struct ConnectionLimits: Sendable {
  /// Open connections.
  package var connectionsMax = FileDescriptors.connectionsMax
  /// Open connections of one address, except trusted proxies.
  package var connectionsPerAddressMax = QuietLimit.connectionsPerAddressMax
  /// Requests in progress. Fewer than connections, so that some connections are left for rejections.
  package var requestsInWorkMax = min(
    QuietLimit.requestsInWorkMax, FileDescriptors.connectionsMax * 3 / 4)
  /// Response bytes that are buffered for all connections.
  package var unreadBytesMax = QuietLimit.unreadBytesMax
  /// Seconds in which a connection must send its next complete request head.
  package var idleSeconds = QuietLimit.idleSeconds
  /// Seconds in which a client must read `QuietLimit.responseBytesMin` of its pending responses, or all.
  package var responseSeconds = QuietLimit.responseSecondsMax

  /// The limits of `QuietLimit`.
  package init() {}
}

/// The file descriptors of the process. Connections must leave enough of them for files and databases.
public enum FileDescriptors {
  /// The descriptors that connections never take: databases, key files, logs and requests to other servers.
  public static let reserved = 192

  /// The number of servers in one process that share the descriptors.
  public static let serversMax = 3

  /// Raises the limit of the process as far as the system allows. Call it before a server starts.
  public static func raiseLimit() {
    var limit = current
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(wanted)))
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// The number of connections that one server may have open: `QuietLimit.connectionsMax`, or less under a low
  /// limit of the process.
  static var connectionsMax: Int {
    let available = Int(clamping: current.rlim_cur) - reserved
    return min(QuietLimit.connectionsMax, max(1, available / serversMax))
  }

  private static var wanted: Int { serversMax * QuietLimit.connectionsMax + reserved }

  private static var current: rlimit {
    var limit = rlimit()
    _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }
}

/// The host of a server is neither an address nor a name of this machine.
public struct UnknownHost: Error, CustomStringConvertible {
  public let description: String

  fileprivate init?(_ host: String, _ error: any Error) {
    let isNoAddress = (error as? IOError)?.errnoCode == EADDRNOTAVAIL
    guard error is SocketAddressError.UnknownHost || isNoAddress else { return nil }
    description = "The host \(host) is not an address of this machine: choose another with --host."
  }
}

/// A port that becomes known later. Readers wait for it.
package actor BoundPort {
  private var port: Int?
  private var waiting: [CheckedContinuation<Int, Never>] = []

  package init() {}

  package var value: Int {
    get async {
      if let port { return port }
      return await withCheckedContinuation { waiting.append($0) }
    }
  }

  /// Sets the port. Only the first call has an effect.
  package func settle(_ port: Int) {
    guard self.port == nil else { return }
    self.port = port
    for continuation in waiting { continuation.resume(returning: port) }
    waiting = []
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServerMetrics
import ServiceLifecycle
import World

/// An HTTP server on one port with limits for connections, headers, idle time and shutdown.
public final class QuietServer: Service {
  private let routes: RouterResponder<QuietContext>
  private let responder: HostResponder
  private let host: String
  private let port: Int
  private let limits: ConnectionLimits
  private let counts: ConnectionCounts
  private let load: ServerLoad
  private let unchanged: UnchangedDocuments
  private let dates: ResponseDates
  private let bodies: UnfinishedBodies
  private let connections: OpenConnections
  private let accepted: AcceptedConnections
  private let identity: TLSIdentity?
  private let logger: Logger
  private let bound = BoundPort()
  private let closed = BoundPort()

  /// Creates a server that listens when it is run.
  ///
  /// - Parameters:
  ///   - port: The port, or 0 for any free port.
  ///   - trustedProxies: Proxies whose connections are not limited by address.
  ///   - clock: The clock for the header `Date` of responses.
  public convenience init(
    router: Router<QuietContext>, host: String, port: Int, trustedProxies: TrustedProxies = .none,
    clock: any WallClock = SystemClock(), logger: Logger
  ) {
    self.init(
      router: router, host: host, port: port, trustedProxies: trustedProxies,
      limits: ConnectionLimits(), clock: clock, logger: logger)
  }

  /// Creates a server that also serves the routes of other servers, or with other `limits`, for tests.
  package init(
    router: Router<QuietContext>, hosted: [HostedRoutes] = [], host: String, port: Int,
    trustedProxies: TrustedProxies = .none, limits: ConnectionLimits = ConnectionLimits(),
    clock: any WallClock = SystemClock(), unchanged: UnchangedDocuments? = nil, logger: Logger
  ) {
    // A request that is answered without the router is not logged.
    self.unchanged = logger.logLevel > .info ? unchanged ?? .none : .none
    dates = ResponseDates(clock)
    routes = router.buildResponder()
    responder = HostResponder(main: routes, hosted: hosted)
    self.host = host
    self.port = port
    self.limits = limits
    load = ServerLoad(inWorkMax: limits.requestsInWorkMax)
    counts = ConnectionCounts(
      countMax: limits.connectionsPerAddressMax, trustedProxies: trustedProxies)
    bodies = UnfinishedBodies(limits.bodies, countMax: max(1, limits.connectionsMax / 2))
    connections = OpenConnections(
      countMax: limits.connectionsMax, unreadBytesMax: limits.unreadBytesMax)
    accepted = AcceptedConnections(countMax: limits.connectionsMax)
    identity = nil
    self.logger = logger
  }

  /// The same server with TLS, on another address: both have the limits of one.
  private init(_ server: QuietServer, as identity: TLSIdentity, host: String, port: Int) {
    self.host = host
    self.port = port
    self.identity = identity
    (routes, responder) = (server.routes, server.responder)
    (dates, limits, logger) = (server.dates, server.limits, server.logger)
    unchanged = server.unchanged
    (load, counts) = (server.load, server.counts)
    (bodies, connections, accepted) = (server.bodies, server.connections, server.accepted)
  }

  /// A server with the same routes and, together with this one, the same limits, that speaks TLS.
  ///
  /// - Parameters:
  ///   - identity: Its certificate and key.
  ///   - host: The address to listen on.
  ///   - port: The port, or 0 for any free port.
  public func secured(by identity: TLSIdentity, host: String, port: Int) -> QuietServer {
    QuietServer(self, as: identity, host: host, port: port)
  }

  /// The routes of this server for the listener of another one, instead of `run()`.
  ///
  /// - Parameter hosts: The names of the hosts of this server, without ports.
  package func hosted(at hosts: Set<String>) -> HostedRoutes {
    HostedRoutes(hosts: hosts, responder: routes)
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

  /// The requests of this moment as metrics, in steps of ten: one of a server without decoys would tell a single user.
  package var families: [MetricFamily] {
    [
      MetricFamily(
        "firebreak_http_requests_in_progress", .gauge,
        help: "Requests from their last byte to the start of their response, rounded down to tens.",
        [Self.tens(load.inWorkCount)]),
      MetricFamily(
        "firebreak_http_requests_queued", .gauge,
        help: "Requests that wait to be processed, rounded down to tens.",
        [Self.tens(load.waitingCount)]),
    ]
  }

  private static func tens(_ count: Int) -> MetricSample {
    MetricSample(Double(count / CoarseCounts.step * CoarseCounts.step))
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
    let service = try makeService()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask(priority: ServerPriority.connections) { try await service.run() }
      group.addTask {
        // The application stops by itself. This ends it if a request does not finish.
        try await gracefulShutdown()
        try await Task.sleep(for: .seconds(QuietLimit.shutdownSeconds))
      }
      try await group.next()
      group.cancelAll()
    }
  }

  private var connectionConfiguration: HTTP1Channel.Configuration {
    let (limits, counts, dates, load, logger) = (limits, counts, dates, load, logger)
    let (connections, unchanged) = (connections, unchanged)
    return .init(
      additionalChannelHandlers: [
        ConnectionHandlers(limits, counts, connections, load, dates, unchanged, logger)
      ],
      idleTimeout: .seconds(Int64(limits.idleSeconds)),
      httpDecoderConfiguration: .init(
        maxHeaderFieldSize: QuietLimit.headerBytesMax,
        maxHeaderListSize: QuietLimit.headerBytesMax,
        maxHeaderFieldCount: QuietLimit.headersMax))
  }

  /// The listener on an inherited socket, or on one of its own.
  private func makeService() throws -> any Service {
    let connection = connectionConfiguration
    let tls = identity.map { TLSChannelConfiguration(tlsConfiguration: $0.configuration) }
    let child: @Sendable (@escaping HTTPChannelHandler.Responder) throws -> any ServerChildChannel =
      {
        let plain = HTTP1Channel(responder: $0, configuration: connection)
        return try tls.map { try TLSChannel(plain, configuration: $0) } ?? plain
      }
    let responder = LoadedResponder(responder: responder, load: load, bodies: bodies)
    let onListening: @Sendable (any Channel) async -> Void = { [bound, closed, accepted] channel in
      accepted.begin(channel)
      channel.closeFuture.whenComplete { _ in Task { await closed.settle(0) } }
      await bound.settle(channel.localAddress?.port ?? 0)
    }
    if let descriptor = try InheritedSockets.copy(host: host, port: port) {
      return InheritedListener(
        descriptor: descriptor, responder: responder, connection: child, accepted: accepted,
        onListening: onListening, logger: logger)
    }
    return Application(
      responder: responder, server: HTTPServerBuilder(child),
      configuration: .init(
        address: .hostname(host, port: port), backlog: QuietLimit.waitingConnectionsMax,
        availableConnectionsDelegate: accepted),
      onServerRunning: onListening, logger: logger)
  }
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

  /// The rate and the number of unfinished bodies.
  package var bodies = BodyRateLimits()

  /// The limits of `QuietLimit`.
  package init() {}
}

/// The file descriptors of the process. Connections must leave enough of them for files and databases.
public enum FileDescriptors {
  /// The descriptors that connections never take: databases, key files, logs, metrics and requests to other servers.
  public static let reserved = 192

  /// The number of servers in one process that share the descriptors. A server with TLS shares those of the same one
  /// without.
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

import Hummingbird
import Logging
import ServiceLifecycle

/// A server on one port: bounded in connections, headers, idle time and the time it takes to stop.
public final class QuietServer: Service {
  private let responder: RouterResponder<QuietContext>
  private let host: String
  private let port: Int
  private let bounds: ConnectionBounds
  private let addresses: AddressCounts
  private let logger: Logger
  private let bound = BoundPort()

  /// A server of `router`, on a free port where `port` is 0. It listens once it is run. Through `trustedProxies` many
  /// people come, so that their connections are not counted by address.
  public convenience init(
    router: Router<QuietContext>, host: String, port: Int, trustedProxies: TrustedProxies = .none,
    logger: Logger
  ) {
    self.init(
      router: router, host: host, port: port, trustedProxies: trustedProxies,
      bounds: ConnectionBounds(), logger: logger)
  }

  /// The same within other `bounds`.
  package init(
    router: Router<QuietContext>, host: String, port: Int, trustedProxies: TrustedProxies = .none,
    bounds: ConnectionBounds, logger: Logger
  ) {
    responder = router.buildResponder()
    self.host = host
    self.port = port
    self.bounds = bounds
    addresses = AddressCounts(
      countMax: bounds.connectionsPerAddressMax, trustedProxies: trustedProxies)
    self.logger = logger
  }

  /// The port it listens on, as soon as it does; 0 where it ended before it could, for the reason
  /// that `run` throws.
  public var boundPort: Int {
    get async { await bound.value }
  }

  /// Serves until it is told to shut down or cancelled. Requests in progress then get
  /// `QuietLimit.shutdownSeconds` to finish.
  ///
  /// - Throws: The system's error where the port cannot be had.
  public func run() async throws {
    do {
      try await serveWithinGrace()
    } catch {
      await bound.settle(0)
      throw error
    }
    await bound.settle(0)
  }

  private func serveWithinGrace() async throws {
    let application = application
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await application.run() }
      group.addTask {
        // The application stops by itself when it is told; this ends it where a request will not.
        try await gracefulShutdown()
        try await Task.sleep(for: .seconds(QuietLimit.shutdownSeconds))
      }
      try await group.next()
      group.cancelAll()
    }
  }

  private var application: Application<RouterResponder<QuietContext>> {
    let (bounds, addresses) = (bounds, addresses)
    return Application(
      responder: responder,
      server: .http1(
        configuration: .init(
          additionalChannelHandlers: [ConnectionHandlers(bounds, addresses)],
          idleTimeout: .seconds(Int64(bounds.idleSeconds)),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: QuietLimit.headerBytesMax,
            maxHeaderListSize: QuietLimit.headerBytesMax,
            maxHeaderFieldCount: QuietLimit.headersMax))),
      configuration: .init(
        address: .hostname(host, port: port),
        availableConnectionsDelegate: .maximum(bounds.connectionsMax, logger: logger)),
      onServerRunning: { [bound] channel in
        await bound.settle(channel.localAddress?.port ?? 0)
      },
      logger: logger)
  }
}

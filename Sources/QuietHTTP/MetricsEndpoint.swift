// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServerMetrics
import ServiceLifecycle
import World

/// `GET /metrics` on a port of its own, in the text format of Prometheus.
///
/// The port is for the operator's monitoring and has no authentication: it belongs to the loopback interface or to a
/// network that only the monitoring can reach.
package final class MetricsEndpoint: Service {
  /// The path of the metrics.
  package static let path = "/metrics"

  private let server: QuietServer

  /// Creates an endpoint that listens when it is run.
  ///
  /// - Parameters:
  ///   - host: The address to listen on.
  ///   - port: The port, or 0 for any free port.
  ///   - randomness: The source of the padding of errors.
  ///   - logger: The log of failures.
  ///   - collect: Returns the metrics of this moment.
  package init(
    host: String, port: Int, randomness: any Randomness, logger: Logger,
    collect: @escaping @Sendable () async -> [MetricFamily]
  ) {
    let router = Router.quiet(refusals: .plain, randomness: randomness)
    router.get(RouterPath(Self.path)) { _, _ in
      let text = MetricsText(await collect()).text
      return Response(
        status: .ok,
        headers: [
          .contentType: MetricsText.mediaType, .cacheControl: "no-store",
          .contentLength: "\(text.utf8.count)",
        ], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
    // Its connections are among the descriptors that the servers leave.
    var limits = ConnectionLimits()
    limits.connectionsMax = min(limits.connectionsMax, QuietLimit.metricsConnectionsMax)
    server = QuietServer(
      router: router, host: host, port: port, limits: limits, logger: logger)
  }

  /// The port, as soon as the endpoint listens; 0 if it ended before.
  package var boundPort: Int {
    get async { await server.boundPort }
  }

  /// Waits until the endpoint no longer listens.
  package func waitUntilClosed() async { await server.waitUntilClosed() }

  /// Serves until a graceful shutdown or cancellation.
  package func run() async throws { try await server.run() }
}

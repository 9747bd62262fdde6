// SPDX-License-Identifier: Apache-2.0
import HealthAuthorityConsole
import KeyServer
import Logging
import QuietHTTP
import ServiceLifecycle
import VerificationServer

/// The servers of one process, from their start to the end of their last request.
package struct RunningServers: Sendable {
  let verification: VerificationServer?
  let keys: KeyServer?
  let console: HealthAuthorityConsole?
  let metrics: MetricsEndpoint?

  package init(
    verification: VerificationServer?, keys: KeyServer?, console: HealthAuthorityConsole?,
    metrics: MetricsEndpoint? = nil
  ) {
    self.verification = verification
    self.keys = keys
    self.console = console
    self.metrics = metrics
  }

  /// The servers as services that run and stop together.
  package func groups(logger: Logger) -> ServerGroups {
    ServerGroups(
      [verification as (any Service)?, keys, console, metrics].compactMap(\.self), logger: logger)
  }

  /// The ports, when all servers listen; `nil` if one of them stopped before.
  package var ports: ServerPorts? {
    get async {
      let ports = ServerPorts(
        verification: await verification?.boundPort, keys: await keys?.boundPort,
        console: await console?.boundPort, metrics: await metrics?.boundPort)
      return [ports.verification, ports.keys, ports.console, ports.metrics].contains(0)
        ? nil : ports
    }
  }

  /// Waits until the ports are free for other servers. Requests in progress may still be served.
  package func waitUntilClosed() async {
    await verification?.waitUntilClosed()
    await keys?.waitUntilClosed()
    await console?.waitUntilClosed()
    await metrics?.waitUntilClosed()
  }
}

/// The ports of the servers that run.
package struct ServerPorts: Sendable {
  /// The port of each server; `nil` for one that does not run in this process.
  package let verification: Int?
  package let keys: Int?
  package let console: Int?
  /// The port of the metrics; `nil` without metrics.
  package let metrics: Int?
}

// SPDX-License-Identifier: Apache-2.0
import HealthAuthorityConsole
import KeyServer
import Logging
import QuietHTTP
import ServerMetrics
import ServiceLifecycle
import VerificationServer

/// The servers of one process, from their start to the end of their last request.
package struct RunningServers: Sendable {
  let verification: VerificationServer?
  let keys: KeyServer?
  let console: HealthAuthorityConsole?
  let metrics: MetricsEndpoint?
  /// Lets their folders follow the databases in PostgreSQL; nil without PostgreSQL.
  let shared: SharedFolderFollower?
  /// The servers of the realms, for which those above listen.
  let realms: RealmServers
  /// The same servers with TLS, on ports of their own; empty without TLS.
  let secured: [ServerName: QuietServer]

  package init(
    verification: VerificationServer?, keys: KeyServer?, console: HealthAuthorityConsole?,
    metrics: MetricsEndpoint? = nil, shared: SharedFolderFollower? = nil,
    realms: RealmServers = RealmServers(),
    secured: [ServerName: QuietServer] = [:]
  ) {
    self.verification = verification
    self.keys = keys
    self.console = console
    self.metrics = metrics
    self.shared = shared
    self.realms = realms
    self.secured = secured
  }

  /// These servers, and the same ones with TLS.
  ///
  /// - Parameters:
  ///   - identity: Their certificate and key.
  ///   - host: The address on which a server listens with TLS.
  ///   - port: The port of a server there; 0 for any free port.
  package func addingTLS(
    by identity: TLSIdentity, host: (ServerName) -> String, port: (ServerName) -> Int
  ) -> RunningServers {
    let all: [ServerName: QuietServer?] = [
      .verification: verification?.secured(
        by: identity, host: host(.verification), port: port(.verification)),
      .keys: keys?.secured(by: identity, host: host(.keys), port: port(.keys)),
      .console: console?.secured(
        by: identity, host: host(.console), port: port(.console)),
    ]
    return RunningServers(
      verification: verification, keys: keys, console: console, metrics: metrics, shared: shared,
      realms: realms,
      secured: all.compactMapValues(\.self))
  }

  /// The servers as services that run and stop together.
  package func groups(logger: Logger) -> ServerGroups {
    let plain = [verification as (any Service)?, keys, console, metrics, shared].compactMap(\.self)
    let hosted = realms.services(logger: logger)
    return ServerGroups(
      plain + hosted + secured.values.map { $0 as any Service }, logger: logger)
  }

  /// The ports, when all servers listen; `nil` if one of them stopped before.
  package var ports: ServerPorts? {
    get async {
      var ports = ServerPorts(
        verification: await verification?.boundPort, keys: await keys?.boundPort,
        console: await console?.boundPort, metrics: await metrics?.boundPort)
      for (name, server) in secured { ports.secured[name] = await server.boundPort }
      let all: [Int?] = [ports.verification, ports.keys, ports.console, ports.metrics]
      return all.contains(0) || ports.secured.values.contains(0) ? nil : ports
    }
  }

  /// Waits until all servers listen, or one of them has stopped.
  package func waitUntilListening() async { _ = await ports }

  /// Waits until the ports are free for other servers. Requests in progress may still be served.
  package func waitUntilClosed() async {
    await verification?.waitUntilClosed()
    await keys?.waitUntilClosed()
    await console?.waitUntilClosed()
    await metrics?.waitUntilClosed()
    for server in secured.values { await server.waitUntilClosed() }
  }
}

/// The servers of all realms in one process.
package struct RealmServers: Sendable {
  let verification: HostedServers<VerificationServer>
  let consoles: HostedServers<HealthAuthorityConsole>
  /// Let their folders follow the databases in PostgreSQL; empty without PostgreSQL.
  let shared: [SharedFolderFollower]
  /// The names of the realms whose preparation failed at the start.
  let unprepared: Set<String>

  package init(
    verification: HostedServers<VerificationServer> = HostedServers(),
    consoles: HostedServers<HealthAuthorityConsole> = HostedServers(),
    shared: [SharedFolderFollower] = [], unprepared: Set<String> = []
  ) {
    self.verification = verification
    self.consoles = consoles
    self.shared = shared
    self.unprepared = unprepared
  }

  /// The names of the realms, also of those whose servers do not run.
  var names: [String] {
    let own = Set(verification.servers.keys).union(consoles.servers.keys)
    return own.union(verification.missing).union(consoles.missing).union(unprepared).sorted()
  }

  /// The servers of a realm that run.
  func servers(of name: String) -> [ServerName] {
    let running: [(ServerName, Bool)] = [
      (.verification, verification.servers[name] != nil), (.console, consoles.servers[name] != nil),
    ]
    return running.filter(\.1).map(\.0)
  }

  /// The metric that shows if a realm is served, without its label.
  func state(of name: String) -> MetricFamily {
    let isDown = verification.missing.union(consoles.missing).union(unprepared).contains(name)
    return MetricFamily(
      "firebreak_realm_up", .gauge,
      help: "1 if all servers of the realm could be prepared and created.",
      [MetricSample(isDown ? 0 : 1)])
  }

  /// The periodic work of the servers.
  fileprivate func services(logger: Logger) -> [any Service] {
    shared.map { $0 as any Service }
      + verification.servers.map { name, server in
        HostedWork(realm: name, logger: logger) { try await server.runHosted() }
      }
      + consoles.servers.map { name, console in
        HostedWork(realm: name, logger: logger) { try await console.runHosted() }
      }
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
  /// The ports with TLS; empty without TLS.
  package fileprivate(set) var secured: [ServerName: Int] = [:]
}

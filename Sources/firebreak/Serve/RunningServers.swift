// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import QuietHTTP
import ServiceLifecycle
import Terminal
import VerificationServer

/// The servers of one process, from their start to the end of their last request.
struct RunningServers {
  let verification: VerificationServer?
  let keys: KeyServer?
  let console: HealthAuthorityConsole?

  /// The servers as services that run and stop together.
  func groups(logger: Logger) -> ServerGroups {
    ServerGroups(
      [verification as (any Service)?, keys, console].compactMap(\.self), logger: logger)
  }

  /// The ports, when all servers listen; `nil` if one of them stopped before.
  var ports: ServerPorts? {
    get async {
      let ports = ServerPorts(
        verification: await verification?.boundPort, keys: await keys?.boundPort,
        console: await console?.boundPort)
      return [ports.verification, ports.keys, ports.console].contains(0) ? nil : ports
    }
  }

  /// Waits until the ports are free for other servers. Requests in progress may still be served.
  func waitUntilClosed() async {
    await verification?.waitUntilClosed()
    await keys?.waitUntilClosed()
    await console?.waitUntilClosed()
  }
}

/// Servers that run at the same time and stop together.
///
/// Each server has a `ServiceGroup` of its own, because a group stops its services one after another: a server would
/// keep listening while another finishes its requests.
struct ServerGroups {
  private let groups: [ServiceGroup]

  init(_ servers: [any Service], logger: Logger) {
    groups = servers.map { ServiceGroup(configuration: .init(services: [$0], logger: logger)) }
  }

  /// Runs the servers until they are told to stop. If one stops, the others do.
  ///
  /// - Throws: The first error of a server.
  func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for group in groups {
        tasks.addTask {
          do { try await group.run() } catch {
            await stop()
            throw error
          }
          await stop()
        }
      }
      try await tasks.waitForAll()
    }
  }

  /// Triggers a graceful shutdown of all servers. Returns at once.
  func stop() async {
    for group in groups { await group.triggerGracefulShutdown() }
  }
}

/// The ports of the servers that run.
struct ServerPorts {
  var verification: Int?
  var keys: Int?
  var console: Int?

  /// The addresses on `host`, and that of the console on its own host.
  func addresses(host: String, consoleHost: String) -> ServerAddresses {
    func url(_ host: String, _ port: Int?) -> String? {
      port.map { "http://\(host.contains(":") ? "[\(host)]" : host):\($0)" }
    }
    return ServerAddresses(
      verification: url(host, verification), keys: url(host, keys),
      console: url(consoleHost, console))
  }
}

/// Runs servers until SIGINT or SIGTERM, and replaces them by new ones at SIGHUP.
///
/// The new servers read the current settings and keys, and use the same ports. They listen as soon as the old servers
/// have closed the ports; the old servers finish their requests.
struct ServerLoop {
  /// Creates servers with the current settings on the given ports; `nil` for the ports of the command line.
  let create: (ServerPorts?) throws -> RunningServers
  let logger: Logger

  private enum Event: Sendable {
    case signal(Int32)
    case ended((any Error)?)
  }

  /// Runs the servers. `ready` gets their ports when the first ones listen.
  ///
  /// - Throws: `CommandFailure` if a server cannot listen or stops, or the error of `ready`.
  func run(ready: (ServerPorts) throws -> Void) async throws {
    let (events, source) = AsyncStream.makeStream(of: Event.self)
    let signals = SignalHandler(and: [SIGHUP]) { source.yield(.signal($0)) }
    defer { withExtendedLifetime(signals) {} }
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      func start(_ servers: RunningServers) -> ServerGroups {
        let groups = servers.groups(logger: logger)
        tasks.addTask {
          do {
            try await groups.run()
            source.yield(.ended(nil))
          } catch {
            source.yield(.ended(error))
          }
        }
        return groups
      }
      var servers = try create(nil)
      var (groups, running, isStopping) = (start(servers), 1, false)
      guard let ports = await servers.ports else { return try await Self.throwEnd(of: events) }
      do {
        try ready(ports)
      } catch {
        await groups.stop()
        throw error
      }
      for await event in events {
        switch event {
        case .signal(SIGHUP):
          guard !isStopping, let next = created(on: ports) else { continue }
          await groups.stop()
          await servers.waitUntilClosed()
          (servers, groups, running) = (next, start(next), running + 1)
        case .signal:
          isStopping = true
          await groups.stop()
        case .ended(let error):
          if let error { throw Self.failure(error) }
          running -= 1
          guard running > 0 else { return }
        }
      }
    }
  }

  /// Returns new servers. Logs an error and returns `nil`; the old servers then keep running.
  private func created(on ports: ServerPorts) -> RunningServers? {
    do {
      return try create(ports)
    } catch {
      logger.error(
        "the settings were not reloaded: correct the file and send SIGHUP again",
        metadata: ["cause": "\(ErrorCause.text(error))"])
      return nil
    }
  }

  private static func throwEnd(of events: AsyncStream<Event>) async throws {
    for await case .ended(let error?) in events { throw failure(error) }
  }

  private static func failure(_ error: any Error) -> CommandFailure {
    let message =
      error is UnknownHost
      ? "\(error)"
      : "A server stopped (\(ErrorCause.text(error))): its port may be in use; choose another with"
        + " --port."
    return CommandFailure(status: .machineFailed, message: message)
  }
}

/// The addresses of the servers: the first line that `serve` prints.
struct ServerAddresses: Encodable {
  let ready = true
  let verification: String?
  let keys: String?
  let console: String?

  var text: String {
    let servers = [
      ("verification server", verification), ("key server", keys), ("console", console),
    ]
    let lines = servers.compactMap { name, url in
      url.map { "The \(name) listens on \($0)." }
    }
    return (lines + ["Press Ctrl-C to stop."]).joined(separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case ready, verification, keys, console
  }
}

extension CommandFailure: LoggableError {
  package var logText: String { message }
}

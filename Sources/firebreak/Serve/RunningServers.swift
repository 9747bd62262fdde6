import Foundation
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

  /// A group that runs the servers until it is told to shut down.
  func group(logger: Logger) -> ServiceGroup {
    var services: [any Service] = []
    if let verification { services.append(verification) }
    if let keys { services.append(keys) }
    return ServiceGroup(
      configuration: .init(
        services: services.map {
          .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
        }, logger: logger))
  }

  /// The ports, when all servers listen; `nil` if one of them stopped before.
  var ports: ServerPorts? {
    get async {
      let ports = ServerPorts(
        verification: await verification?.boundPort, keys: await keys?.boundPort)
      return ports.verification == 0 || ports.keys == 0 ? nil : ports
    }
  }

  /// Waits until the ports are free for other servers. Requests in progress may still be served.
  func waitUntilClosed() async {
    await verification?.waitUntilClosed()
    await keys?.waitUntilClosed()
  }
}

/// The ports of the servers that run.
struct ServerPorts {
  var verification: Int?
  var keys: Int?

  /// The addresses on `host`.
  func addresses(host: String) -> ServerAddresses {
    let name = host.contains(":") ? "[\(host)]" : host
    func url(_ port: Int?) -> String? { port.map { "http://\(name):\($0)" } }
    return ServerAddresses(verification: url(verification), keys: url(keys))
  }
}

/// Runs servers until SIGINT or SIGTERM, and replaces them by new ones at SIGHUP.
///
/// The new servers have the settings and keys of that moment and the same ports. They listen as soon as the old
/// ones no longer do; those finish their requests.
struct ServerLoop {
  /// Creates servers with the settings of now; on free ports, or on given ones.
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
      func start(_ servers: RunningServers) -> ServiceGroup {
        let group = servers.group(logger: logger)
        tasks.addTask {
          do {
            try await group.run()
            source.yield(.ended(nil))
          } catch {
            source.yield(.ended(error))
          }
        }
        return group
      }
      var servers = try create(nil)
      var (group, running, isStopping) = (start(servers), 1, false)
      guard let ports = await servers.ports else { return try await Self.throwEnd(of: events) }
      do {
        try ready(ports)
      } catch {
        await group.triggerGracefulShutdown()
        throw error
      }
      for await event in events {
        switch event {
        case .signal(SIGHUP):
          guard !isStopping, let next = created(on: ports) else { continue }
          await group.triggerGracefulShutdown()
          await servers.waitUntilClosed()
          (servers, group, running) = (next, start(next), running + 1)
        case .signal:
          isStopping = true
          await group.triggerGracefulShutdown()
        case .ended(let error):
          if let error { throw Self.failure(error) }
          running -= 1
          guard running > 0 else { return }
        }
      }
    }
  }

  /// New servers, or `nil` after an error, which is logged: the old servers go on.
  private func created(on ports: ServerPorts) -> RunningServers? {
    do {
      return try create(ports)
    } catch {
      logger.error(
        "the settings were not reloaded", metadata: ["cause": "\(ErrorCause.text(error))"])
      return nil
    }
  }

  private static func throwEnd(of events: AsyncStream<Event>) async throws {
    for await case .ended(let error?) in events { throw failure(error) }
  }

  private static func failure(_ error: any Error) -> CommandFailure {
    CommandFailure(
      status: .machineFailed,
      sentence:
        "A server stopped (\(error)): its port may be in use; choose another with --port.")
  }
}

/// The addresses of the servers: the first line that `serve` prints.
struct ServerAddresses: Encodable {
  let ready = true
  let verification: String?
  let keys: String?

  var text: String {
    let lines = [("verification server", verification), ("key server", keys)].compactMap {
      name, url in
      url.map { "The \(name) listens on \($0)." }
    }
    return (lines + ["Press Ctrl-C to stop."]).joined(separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case ready, verification, keys
  }
}

extension CommandFailure: LoggableError {
  package var logText: String { sentence }
}

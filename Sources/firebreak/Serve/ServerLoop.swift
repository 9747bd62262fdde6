// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import ServerOperations
import Terminal
import World

/// Runs servers until SIGINT or SIGTERM, and replaces them by new ones at SIGHUP.
///
/// The new servers read the current settings and keys, and use the same ports. They listen as soon as the old servers
/// have closed the ports; the old servers finish their requests.
struct ServerLoop {
  /// Creates servers with the current settings on the given ports; `nil` for the ports of the command line.
  let create: (ServerPorts?) throws -> RunningServers
  let notifier: ServiceNotifier
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
      let watchdog = notifier.begin(SystemClock())
      defer { watchdog.cancel() }
      for await event in events {
        switch event {
        case .signal(SIGHUP):
          guard !isStopping else { continue }
          notifier.reloading()
          guard let next = created(on: ports) else { continue }
          await Self.end(servers, groups)
          (servers, groups, running) = (next, start(next), running + 1)
          await next.waitUntilListening()
          notifier.ready()
        case .signal:
          isStopping = true
          notifier.stopping()
          await groups.stop()
        case .ended(let error):
          if let error { throw Self.failure(error) }
          running -= 1
          guard running > 0 else { return }
        }
      }
    }
  }

  /// Lets servers finish their requests, and waits until their ports are free.
  private static func end(_ servers: RunningServers, _ groups: ServerGroups) async {
    await groups.stop()
    await servers.waitUntilClosed()
  }

  /// Returns new servers. Reports an error and returns `nil`; the old servers then keep running.
  private func created(on ports: ServerPorts) -> RunningServers? {
    do {
      return try create(ports)
    } catch {
      logger.error(
        "the settings were not reloaded: correct the file and send SIGHUP again",
        metadata: ["cause": "\(ErrorCause.text(error))"])
      notifier.notReloaded()
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
    return CommandFailure.machineFailed(message)
  }
}

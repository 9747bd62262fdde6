import KeyServer
import Logging
import ServiceLifecycle
import VerificationServer

/// The servers of one process.
struct RunningServers {
  let verification: VerificationServer?
  let keys: KeyServer?
  let host: String

  /// Runs the servers until SIGINT or SIGTERM. `ready` gets the addresses when all of them listen.
  ///
  /// - Throws: `CommandFailure` if a server cannot listen.
  func run(
    logger: Logger, ready: @escaping (ServerAddresses) throws -> Void
  ) async throws {
    var services: [any Service] = []
    if let verification { services.append(verification) }
    if let keys { services.append(keys) }
    let group = ServiceGroup(
      configuration: .init(
        services: services.map {
          .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
        }, logger: logger))
    let signals = SignalHandler { _ in Task { await group.triggerGracefulShutdown() } }
    defer { withExtendedLifetime(signals) {} }
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        do {
          try await group.run()
        } catch {
          throw CommandFailure(
            status: .machineFailed,
            sentence:
              "A server stopped (\(error)): its port may be in use; choose another with --port.")
        }
      }
      if let addresses = await addresses() {
        do {
          try ready(addresses)
        } catch {
          await group.triggerGracefulShutdown()
          try await tasks.waitForAll()
          throw error
        }
      }
      try await tasks.waitForAll()
    }
  }

  /// `nil` if a server stopped before it could listen; `group.run()` throws the reason.
  private func addresses() async -> ServerAddresses? {
    let ports = (verification: await verification?.boundPort, keys: await keys?.boundPort)
    guard ports.verification != 0, ports.keys != 0 else { return nil }
    let name = host.contains(":") ? "[\(host)]" : host
    func url(_ port: Int?) -> String? { port.map { "http://\(name):\($0)" } }
    return ServerAddresses(verification: url(ports.verification), keys: url(ports.keys))
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

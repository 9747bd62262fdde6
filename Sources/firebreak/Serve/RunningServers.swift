import KeyServer
import Logging
import ServiceLifecycle
import VerificationServer

/// The servers of one process, from the first port to the last request.
struct RunningServers {
  let verification: VerificationServer?
  let keys: KeyServer?
  let host: String

  /// Runs them until an interruption (Ctrl-C) or a termination; `ready` gets the addresses once all
  /// of them listen.
  ///
  /// - Throws: `CommandFailure` where one cannot listen.
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
    let signals = StopSignals { Task { await group.triggerGracefulShutdown() } }
    defer { withExtendedLifetime(signals) {} }
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        do {
          try await group.run()
        } catch {
          throw CommandFailure(
            status: .machineFailed,
            sentence: "A server ended (\(error)): is its port taken? Choose another with --port.")
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

  /// Nil where a server ended before it could listen; its run says why.
  private func addresses() async -> ServerAddresses? {
    let ports = (verification: await verification?.boundPort, keys: await keys?.boundPort)
    guard ports.verification != 0, ports.keys != 0 else { return nil }
    let name = host.contains(":") ? "[\(host)]" : host
    func url(_ port: Int?) -> String? { port.map { "http://\(name):\($0)" } }
    return ServerAddresses(verification: url(ports.verification), keys: url(ports.keys))
  }
}

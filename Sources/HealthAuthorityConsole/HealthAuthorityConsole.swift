import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServiceLifecycle
import World

/// The console of a health authority: web pages on which officials issue codes, watch the system, and administer phones
/// and keys.
///
/// It stores accounts, sessions, proposals and an audit log, and neither codes nor keys. See Documentation/Console.md.
package final class HealthAuthorityConsole: Service {
  private let server: QuietServer

  /// Opens the database and prepares the pages; `run()` starts to listen.
  ///
  /// - Parameters:
  ///   - authority: The servers that are administered.
  ///   - clock: The clock of sign-ins, sessions and the audit log: that of the officials' code generators.
  ///   - serviceClock: The clock of the servers, which differs from `clock` in a rehearsal; nil for `clock`.
  /// - Throws: `ConsoleError`.
  package init(
    _ configuration: ConsoleConfiguration, authority: any AdministeredAuthority,
    clock: any WallClock, serviceClock: (any WallClock)? = nil, randomness: any Randomness,
    logger: Logger
  ) throws {
    let composition = try ConsoleComposition(
      configuration, clock: clock, randomness: randomness)
    server = QuietServer(
      router: try composition.router(authority, serviceClock: serviceClock ?? clock),
      host: configuration.host, port: configuration.port,
      trustedProxies: configuration.trustedProxies, logger: logger)
  }

  /// The port the console listens on; waits until it listens.
  package var boundPort: Int {
    get async { await server.boundPort }
  }

  /// Waits until the console no longer listens; requests in progress may still be served.
  package func waitUntilClosed() async { await server.waitUntilClosed() }

  /// Serves pages until a graceful shutdown or cancellation.
  package func run() async throws { try await server.run() }
}

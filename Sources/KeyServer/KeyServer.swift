import AsyncHTTPClient
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import Logging
import QuietHTTP
import ServiceLifecycle
import UploadToken
import World

/// The key server: takes the keys of diagnosed persons, and publishes them in signed files.
///
/// It sees keys and never a PIN, a name or an address. Documentation/KeyServer.md.
public final class KeyServer: Service {
  private let server: QuietServer
  private let exporter: Exporter
  private let keyPull: AuthorityKeyPull
  private let periods: [ExportPeriod]
  private let clock: any WallClock
  private let logger: Logger

  /// A server as `configuration` says. It opens its database now and listens once it is run.
  ///
  /// - Throws: `KeyServerError`, with one sentence that names what to change.
  public init(
    _ configuration: KeyServerConfiguration, clock: any WallClock, randomness: any Randomness,
    logger: Logger
  ) throws(KeyServerError) {
    try configuration.checked()
    let rooms = try KeyServerRooms(
      configuration, clock: clock, randomness: randomness, logger: logger)
    server = QuietServer(
      router: rooms.router, host: configuration.host, port: configuration.port,
      trustedProxies: configuration.trustedProxies, logger: logger)
    exporter = rooms.exporter
    keyPull = rooms.keyPull
    periods = configuration.exports.map(\.period)
    self.clock = clock
    self.logger = logger
  }

  /// The port it listens on, as soon as it does.
  public var boundPort: Int {
    get async { await server.boundPort }
  }

  /// Serves, and exports at the end of each period, until it is told to shut down or cancelled.
  public func run() async throws {
    try await serve()
    // What could not be done now is done by whoever opens the database next.
    do { try await exporter.settle() } catch {
      logger.error("some keys wait to be sorted in", metadata: KeyServerError.metadata(of: error))
    }
  }

  private func serve() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await self.server.run()
        return true
      }
      group.addTask {
        await cancelWhenGracefulShutdown { await self.exportForever() }
        return false
      }
      group.addTask {
        await cancelWhenGracefulShutdown { await self.keyPull.pullForever() }
        return false
      }
      // No export and no pull begins any more. An export under way is carried to its end, since nobody cancels
      // what `Exporter` has taken up; requests in progress may finish.
      for try await serverHasEnded in group where serverHasEnded { group.cancelAll() }
    }
  }

  /// Closes every period that has ended, and writes every key file that is missing.
  ///
  /// - Returns: The files written now, as the lines of their indexes, oldest first in each.
  /// - Throws: `KeyServerError.unavailable` where the database or the disk refuses; nothing is half done
  ///   then, and the next call goes on where this one stopped.
  @discardableResult
  public func exportDue() async throws -> [String] {
    try await storing { try await exporter.exportDue() }
  }

  /// Reads the keys of every authority that publishes them, now; `run()` does it every hour.
  ///
  /// - Throws: `KeyServerError.unavailable` where they cannot be written down.
  public func pullAuthorityKeys() async throws {
    try await storing { try await keyPull.pullAll() }
  }

  /// Removes key files, keys and used tokens that nobody needs any more.
  public func removeOld() async throws {
    try await storing { try await exporter.removeOld() }
  }

  /// What the database and the disk say of themselves is for the log, not for whoever exports.
  private func storing<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      logger.error("an export failed", metadata: KeyServerError.metadata(of: error))
      throw error as? KeyServerError ?? .unavailable
    }
  }

  private func exportForever() async {
    while !Task.isCancelled {
      let now = clock.now
      var next = periods.map { $0.boundary(after: now) }.min() ?? now
      do {
        try await exportDue()
        try await removeOld()
      } catch {
        next = min(next, clock.now.addingTimeInterval(KeyServerLimit.exportRetrySeconds))
      }
      do { try await clock.sleep(until: next) } catch { return }
    }
  }
}

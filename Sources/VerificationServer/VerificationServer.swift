// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import PostgreSQL
import QuietHTTP
import ServerMetrics
import ServerStorage
import ServiceLifecycle
import UploadToken
import VerificationAPI
import World

/// The verification server: exchanges codes of a health authority for signed tokens and certificates.
///
/// It stores codes with test results, and no names, locations or keys. The page
/// `Documentation/VerificationServer.md` describes its routes.
public final class VerificationServer: Service {
  private let http: QuietServer
  private let storage: any CodeStorage
  private let signing: SigningKeyring
  private let clock: any WallClock
  private let time: TrustedTime
  private let logger: Logger
  private let health: ServerHealth
  private let jobs: BackgroundJobs
  private let metrics: VerificationMetrics
  private let attempts: AttemptCounter

  /// Opens the database and prepares the server; `run()` starts to listen.
  ///
  /// - Throws: `VerificationServerError` if the configuration is invalid or the database
  ///   cannot be opened.
  public init(
    configuration: VerificationServerConfiguration, clock: any WallClock,
    randomness: any Randomness, logger: Logger
  ) throws {
    let keys = try configuration.validatedKeys()
    let apiTokens = try APITokens(
      configuration.apiTokens, read: configuration.readAPITokens,
      version: configuration.secretsVersion, clock: clock, logger: logger)
    let storage = try configuration.storage(keys, logger: logger)
    health = ServerHealth(logger: logger, server: "VerificationServer")
    signing = SigningKeyring(
      configuration.signing, read: configuration.readSigningKeys,
      version: configuration.secretsVersion, clock: clock, logger: logger, health: health)
    let composition = VerificationComposition(
      configuration: configuration, storage: storage, keys: keys, apiTokens: apiTokens,
      signing: signing, clock: clock, randomness: randomness, logger: logger)
    http = QuietServer(
      router: try composition.router(), hosted: configuration.hosted, host: configuration.host,
      port: configuration.port, trustedProxies: configuration.trustedProxies, clock: clock,
      logger: logger)
    self.storage = storage
    time = TrustedTime(clock, storage)
    self.clock = clock
    self.logger = logger
    jobs = BackgroundJobs([.cleanup, .check], clock: clock)
    metrics = composition.metrics(jobs: jobs, faults: health)
    attempts = composition.attempts
  }

  /// The port the server listens on; waits until it listens.
  public var boundPort: Int {
    get async { await http.boundPort }
  }

  /// A server with the same routes and limits that speaks TLS; port 0 is any free port.
  package func secured(by identity: TLSIdentity, host: String, port: Int) -> QuietServer {
    http.secured(by: identity, host: host, port: port)
  }

  /// Waits until the server no longer listens; requests in progress may still be served.
  public func waitUntilClosed() async { await http.waitUntilClosed() }

  /// Serves requests and removes expired codes periodically, until it is stopped or cancelled.
  ///
  /// - Throws: `VerificationServerError` if the database cannot be opened.
  public func run() async throws { try await run { try await $0.serve() } }

  /// The routes of this server for the listener of another one, instead of `run()`.
  ///
  /// - Parameter hosts: The names of the hosts of this server, without ports.
  package func hosted(at hosts: Set<String>) -> HostedRoutes { http.hosted(at: hosts) }

  /// Removes expired codes periodically until it is cancelled, while another server listens for this one.
  ///
  /// - Throws: `VerificationServerError` if the database cannot be opened.
  package func runHosted() async throws {
    try await run { try await $0.removeExpiredPeriodically() }
  }

  private func run(_ work: (VerificationServer) async throws -> Void) async throws {
    try await storage.makeReady()
    do { try await work(self) } catch {
      await storeLastAttempts()
      throw error
    }
    await storeLastAttempts()
  }

  private func serve() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.http.run() }
      group.addTask { try await self.removeExpiredPeriodically() }
      try await group.next()
      group.cancelAll()
    }
  }

  /// Stores the numbers of attempts at the end. In a task of its own, because this one may be cancelled.
  private func storeLastAttempts() async {
    await Task { [attempts, logger] in
      do { try await attempts.store() } catch {
        logger.warning("numbers of attempts were not stored, and are lost: \(error)")
      }
    }.value
  }

  /// Opens a database that the initializer has not opened: one in PostgreSQL. `run()` does so as well.
  ///
  /// - Throws: `VerificationServerError`
  package func openDatabase() async throws { try await storage.makeReady() }

  /// Removes every code that expired more than `VerificationLimit.expiredCodeKeptSeconds` ago.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` or `.unreachableDatabase`; `.implausibleClock` if the clock
  ///   was set.
  public func removeExpired() async throws {
    let now: Date
    do { now = try await time.now() } catch let error as ImplausibleClock {
      throw VerificationServerError.implausibleClock("\(error)")
    }
    let moment = now.addingTimeInterval(-VerificationLimit.expiredCodeKeptSeconds)
    var removed = 0
    repeat {
      removed = try await storage.removeExpired(
        at: moment, atMost: VerificationLimit.removedAtOnceMax)
    } while removed >= VerificationLimit.removedAtOnceMax
  }

  /// The metrics of this moment, without a label for the server.
  package func families() async -> [MetricFamily] { await metrics.families() + http.families }

  /// The faults that an operator has to repair, one sentence for each; empty if the server is well.
  public var faults: [String] { health.faults }

  /// Checks the database. `run()` does it at the start and with each removal of expired codes.
  public func checkStoredData() async {
    do {
      health.report(try await storage.check()?.description, of: .database)
      health.report(nil, of: .connection)
      jobs.ended(.check, succeeded: true)
    } catch is CancellationError {
    } catch let error as VerificationServerError where error.isOfConnection {
      jobs.ended(.check, succeeded: false)
      health.report(error.description, of: .connection)
    } catch {
      jobs.ended(.check, succeeded: false)
      let known = error as? VerificationServerError ?? .storageUnavailable
      health.report(known.description, of: .database)
    }
  }

  // An error such as a full disk does not end the loop: the next period retries.
  private func removeExpiredPeriodically() async throws {
    while true {
      await checkStoredData()
      do {
        try await jobs.record(.cleanup) { try await removeExpired() }
        health.report(nil, of: .clock)
      } catch VerificationServerError.implausibleClock(let message) {
        health.report(message, of: .clock)
      } catch let error as VerificationServerError {
        logger.warning("removal of expired codes failed: \(error)")
      }
      do { try await attempts.store() } catch let error as VerificationServerError {
        logger.warning("the numbers of attempts were not stored and are kept: \(error)")
      }
      try await pause(
        until: clock.now.addingTimeInterval(VerificationLimit.cleanupPeriodSeconds))
    }
  }

  /// Suspends until the clock shows `end`. The signing key is checked meanwhile, which also reads the keys again, so
  /// that a change is published even if no request needs a signature.
  private func pause(until end: Date) async throws {
    repeat {
      await signing.check()
      let next = clock.now.addingTimeInterval(VerificationLimit.signerCheckSeconds)
      try await clock.sleep(until: min(end, next))
    } while clock.now < end
  }
}

extension VerificationServer {
  /// The schema of the database, for commands that open it beside the server.
  package static var databaseSchema: DatabaseSchema { SQLiteCodeStorage.schema }

  /// The database in PostgreSQL, for commands that open it beside the server.
  ///
  /// - Parameters:
  ///   - address: The address of the database.
  ///   - secret: The `codeHashKey` that the database must belong to; nil for no check.
  ///   - logger: Gets failures of connections.
  package static func database(
    at address: PostgreSQLAddress, secret: Data? = nil, logger: Logger
  ) -> PostgreSQLServerDatabase {
    PostgreSQLServerDatabase(
      address, schema: PostgreSQLCodeSchema.schema, secretCheck: secret.flatMap(databaseCheck),
      connections: 1, logger: logger)
  }

  /// The value by which a database shows that it belongs to the `codeHashKey` `secret`; nil if that has another length.
  package static func databaseCheck(of secret: Data) -> Data? {
    CodeKeys(codeHashKey: [UInt8](secret))?.check
  }

  /// The check of the database, which verifies the checksums of codes and used tokens.
  package static var databaseInspection: DatabaseInspection {
    DatabaseInspection(
      SQLiteCodeStorage.schema, damagedRows: { try SQLiteCodeStorage.damagedRows(in: $0) },
      damagedRowsInPostgreSQL: { try PostgreSQLCodeStorage.damagedRows($0) })
  }
}

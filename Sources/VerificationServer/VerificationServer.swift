import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServiceLifecycle
import VerificationAPI
import World

/// The server that turns a code into a token: it knows that a code was issued for a positive test,
/// and no name, no place and no key.
///
/// Documentation/SeedContract.md 2 and 3. This file is the wiring and holds no rule.
public final class VerificationServer: Service {
  private let http: QuietServer
  private let storage: any CodeStorage
  private let clock: any WallClock
  private let logger: Logger

  /// Opens the database and gets everything ready; it listens once it is run.
  ///
  /// - Throws: `VerificationServerError` where the configuration does not make sense or the database
  ///   cannot be opened.
  public init(
    configuration: VerificationServerConfiguration, clock: any WallClock,
    randomness: any Randomness, logger: Logger
  ) throws {
    let keys = try configuration.validatedKeys()
    let apiTokens = try ApiTokens(configuration.apiTokens)
    let storage = try SQLiteCodeStorage(file: configuration.databaseFile)
    // Each route counts for itself: wrong codes from a clinic must not keep its officials from
    // issuing new ones.
    let (issuing, redeeming) = (
      Attempts(configuration.attempts, clock: clock, randomness: randomness),
      Attempts(configuration.attempts, clock: clock, randomness: randomness)
    )
    let router = Router.quiet(
      refusals: .callable, allowedOrigin: configuration.allowedOrigin, randomness: randomness)
    GenerateCodeRoute(
      issuance: CodeIssuance(
        storage: storage, keys: keys, lifetime: configuration.codeLifetime, clock: clock,
        randomness: randomness),
      apiTokens: apiTokens, attempts: issuing
    ).add(to: router)
    AccessTokenRoute(
      redemption: CodeRedemption(
        storage: storage, keys: keys, signing: configuration.signing,
        tokenLifetime: configuration.tokenLifetime, clock: clock, randomness: randomness),
      attempts: redeeming
    ).add(to: router)
    http = QuietServer(
      router: router, host: configuration.host, port: configuration.port, logger: logger)
    self.storage = storage
    self.clock = clock
    self.logger = logger
  }

  /// The port it listens on, as soon as it does.
  public var boundPort: Int {
    get async { await http.boundPort }
  }

  /// Serves, and removes expired codes as the clock goes, until it is told to stop or cancelled.
  public func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.http.run() }
      group.addTask { try await self.removeExpiredPeriodically() }
      try await group.next()
      group.cancelAll()
    }
  }

  /// Removes every code that has expired, until none is left.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable`.
  public func removeExpired() async throws {
    let now = clock.now
    var removed = 0
    repeat {
      removed = try await storage.removeExpired(
        at: now, atMost: VerificationLimit.removedAtOnceMax)
    } while removed == VerificationLimit.removedAtOnceMax
  }

  /// A full disk today must not end the cleanup for good, so a failure waits for the next turn.
  private func removeExpiredPeriodically() async throws {
    while true {
      do {
        try await removeExpired()
      } catch let error as VerificationServerError {
        logger.warning("expired codes were not removed: \(error)")
      }
      try await clock.sleep(
        until: clock.now.addingTimeInterval(VerificationLimit.cleanupPeriodSeconds))
    }
  }
}

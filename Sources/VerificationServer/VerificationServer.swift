import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServiceLifecycle
import World

/// The server that turns a code into a token: it knows that a code was issued for a positive test,
/// and no name, no place and no key.
///
/// Documentation/SeedContract.md 2 and 3, Documentation/VerificationServer.md.
public final class VerificationServer: Service {
  private let http: QuietServer
  private let storage: any CodeStorage
  private let signing: SigningKeyring
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
    signing = SigningKeyring(
      configuration.signing, read: configuration.readSigningKeys, clock: clock, logger: logger)
    let rooms = VerificationRooms(
      configuration: configuration, storage: storage, keys: keys, apiTokens: apiTokens,
      signing: signing, clock: clock, randomness: randomness)
    http = QuietServer(
      router: try rooms.router(), host: configuration.host, port: configuration.port,
      trustedProxies: configuration.trustedProxies, logger: logger)
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

  /// Removes every code that expired more than `VerificationLimit.expiredCodeKeptSeconds` ago, until
  /// none is left.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable`.
  public func removeExpired() async throws {
    let moment = clock.now.addingTimeInterval(-VerificationLimit.expiredCodeKeptSeconds)
    var removed = 0
    repeat {
      removed = try await storage.removeExpired(
        at: moment, atMost: VerificationLimit.removedAtOnceMax)
    } while removed >= VerificationLimit.removedAtOnceMax
  }

  /// A full disk today must not end the cleanup for good, so a failure waits for the next turn.
  private func removeExpiredPeriodically() async throws {
    while true {
      // Whoever reads the keys may have to be told that one has ended, though nobody asks for a signature.
      _ = signing.keys()
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

/// Why the verification server could not start or could not do what it was asked.
public enum VerificationServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The configuration does not make sense; the text names the field and what to write there.
  case badConfiguration(String)
  /// Nothing could be kept just now, and nothing was: try again later.
  case storageUnavailable
  /// No token could be signed, and no code was used up: try again later.
  case signingUnavailable

  public var description: String {
    switch self {
    case .badConfiguration(let sentence): sentence
    case .storageUnavailable:
      "The database could not keep anything: make room on its disk, then ask again."
    case .signingUnavailable: "No token could be signed: check the signing key, then ask again."
    }
  }
}

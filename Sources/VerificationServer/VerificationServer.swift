// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import QuietHTTP
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

  /// Opens the database and prepares the server; `run()` starts to listen.
  ///
  /// - Throws: `VerificationServerError` if the configuration is invalid or the database
  ///   cannot be opened.
  public init(
    configuration: VerificationServerConfiguration, clock: any WallClock,
    randomness: any Randomness, logger: Logger
  ) throws {
    let keys = try configuration.validatedKeys()
    let apiTokens = try APITokens(configuration.apiTokens)
    let storage = try SQLiteCodeStorage(file: configuration.databaseFile, keys: keys)
    signing = SigningKeyring(
      configuration.signing, read: configuration.readSigningKeys, clock: clock, logger: logger)
    let composition = VerificationComposition(
      configuration: configuration, storage: storage, keys: keys, apiTokens: apiTokens,
      signing: signing, clock: clock, randomness: randomness, logger: logger)
    http = QuietServer(
      router: try composition.router(), host: configuration.host, port: configuration.port,
      trustedProxies: configuration.trustedProxies, logger: logger)
    self.storage = storage
    time = TrustedTime(clock, storage)
    self.clock = clock
    self.logger = logger
    health = ServerHealth(logger: logger, server: "VerificationServer")
  }

  /// The port the server listens on; waits until it listens.
  public var boundPort: Int {
    get async { await http.boundPort }
  }

  /// Waits until the server no longer listens; requests in progress may still be served.
  public func waitUntilClosed() async { await http.waitUntilClosed() }

  /// Serves requests and removes expired codes periodically, until it is stopped or cancelled.
  public func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.http.run() }
      group.addTask { try await self.removeExpiredPeriodically() }
      try await group.next()
      group.cancelAll()
    }
  }

  /// Removes every code that expired more than `VerificationLimit.expiredCodeKeptSeconds` ago.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable`; `.implausibleClock` if the clock was set.
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

  /// The faults that an operator has to repair, one sentence for each; empty if the server is well.
  public var faults: [String] { health.faults }

  /// Checks the database. `run()` does it at the start and with each removal of expired codes.
  public func checkStoredData() async {
    do {
      health.report(try await storage.check()?.description, of: .database)
    } catch is CancellationError {
    } catch {
      health.report(VerificationServerError.storageUnavailable.description, of: .database)
    }
  }

  // An error such as a full disk does not end the loop: the next period retries.
  private func removeExpiredPeriodically() async throws {
    while true {
      // Reloads the keys, so that a change is published even if no request needs a signature.
      _ = signing.keys()
      await checkStoredData()
      do {
        try await removeExpired()
        health.report(nil, of: .clock)
      } catch VerificationServerError.implausibleClock(let message) {
        health.report(message, of: .clock)
      } catch let error as VerificationServerError {
        logger.warning("removal of expired codes failed: \(error)")
      }
      try await clock.sleep(
        until: clock.now.addingTimeInterval(VerificationLimit.cleanupPeriodSeconds))
    }
  }
}

/// The errors of the verification server.
public enum VerificationServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The configuration is invalid; the text names the field and the allowed values.
  case badConfiguration(String)
  /// The database did not store anything: retry later.
  case storageUnavailable
  /// The database was created with another `codeHashKey`.
  case otherCodeHashKey
  /// The clock was set, and its new time is not confirmed; the text says by how much.
  case implausibleClock(String)
  /// No token was signed and no code was used: retry later.
  case signingUnavailable
  /// So many codes are live that another one could be guessed: retry when some have expired.
  case tooManyLiveCodes

  public var description: String {
    switch self {
    case .badConfiguration(let message), .implausibleClock(let message): message
    case .storageUnavailable:
      "The database is not available: make room on its disk or check its file, then retry."
    case .otherCodeHashKey:
      "The database was created with another codeHashKey: restore both from one backup."
    case .tooManyLiveCodes:
      "Too many codes are live to issue one that cannot be guessed: let some expire, or lower attempts.total."
    case .signingUnavailable: "No token could be signed: check the signing key, then retry."
    }
  }
}

/// Builds the routes of the server from the configuration and the storage.
struct VerificationComposition {
  let configuration: VerificationServerConfiguration
  let storage: any CodeStorage
  let keys: CodeKeys
  let apiTokens: APITokens
  let signing: SigningKeyring
  let clock: any WallClock
  let randomness: any Randomness
  let logger: Logger

  func router() throws -> Router<QuietContext> {
    let router = Router.quiet(
      refusals: .callable, allowedOrigin: configuration.allowedOrigin,
      trustedProxies: configuration.trustedProxies, randomness: randomness)
    // Both contracts accept the same codes, so they share one failure budget.
    let guesses = FailureBudget(
      configuration.attempts.ofCodes, clock: clock, randomness: randomness,
      alarm: GuessingAlarm(logger: logger, limits: configuration.attempts).report)
    addProteGOSafeRoutes(to: router, guesses)
    addDeviceRoutes(to: router, guesses)
    addAdminRoutes(to: router)
    let (signing, clock) = (signing, clock)
    router.page(RouterPath(VerificationRoute.keys)) {
      try QuietPage(signing.keys().published(at: clock.now), maxAgeSeconds: Self.keysMaxAgeSeconds)
    }
    router.page(RouterPath(VerificationRoute.keyList)) {
      try QuietPage(
        signing.keys().published(at: clock.now).keys, maxAgeSeconds: Self.keysMaxAgeSeconds)
    }
    try router.describe(VerificationDescription.document)
    return router
  }

  // Separate budgets: wrong codes entered at a clinic must not prevent its staff from issuing codes.
  private var failures: FailureBudget {
    FailureBudget(configuration.attempts.ofCredentials, clock: clock, randomness: randomness)
  }

  private var quota: IssueQuota {
    IssueQuota(configuration.attempts, clock: clock, randomness: randomness)
  }

  private var codeIssuer: CodeIssuer {
    CodeIssuer(
      storage: storage, keys: keys, lifetime: configuration.codeLifetime,
      policy: configuration.policy, risk: GuessingRisk(configuration.attempts), clock: clock,
      randomness: randomness)
  }

  private func gate(_ kinds: Set<APIKeyKind>, from netmasks: Netmasks) -> APIKeyGate {
    APIKeyGate(
      kinds: kinds,
      apiKeys: APIKeys(storage: storage, keys: keys, clock: clock, randomness: randomness),
      netmasks: netmasks, failures: failures,
      isInMaintenance: configuration.policy.isInMaintenance)
  }

  private func addProteGOSafeRoutes(
    to router: Router<QuietContext>, _ guesses: FailureBudget
  ) {
    let gate = APITokenGate(
      apiTokens: apiTokens, netmasks: configuration.operatorNetmasks, failures: failures)
    GenerateCodeRoute(codeIssuer: codeIssuer, gate: gate).add(to: router)
    GenerateCodesBatchRoute(codeIssuer: codeIssuer, gate: gate).add(to: router)
    AccessTokenRoute(
      redeemer: CodeRedeemer(
        storage: storage, keys: keys, signing: signing,
        tokenLifetime: configuration.tokenLifetime, clock: clock, randomness: randomness),
      netmasks: configuration.applicationNetmasks, failures: guesses
    ).add(to: router)
  }

  private func addDeviceRoutes(to router: Router<QuietContext>, _ guesses: FailureBudget) {
    let device = gate([.device], from: configuration.applicationNetmasks)
    let policy = configuration.policy
    VerifyRoute(
      verifier: CodeVerifier(
        storage: storage, keys: keys, signing: signing,
        tokenLifetime: policy.verificationTokenLifetime, clock: clock, randomness: randomness),
      gate: device, failures: guesses
    ).add(to: router)
    CertificateRoute(
      exchange: CertificateExchange(
        storage: storage, keys: keys, signing: signing,
        certificateLifetime: policy.certificateLifetime, clock: clock),
      gate: device, failures: failures, randomness: randomness
    ).add(to: router)
    UserReportRoute(
      codeIssuer: codeIssuer, sms: configuration.sms, gate: device, reports: failures,
      quota: quota, sendTimes: ResponseTimes(randomness: randomness)
    ).add(to: router)
  }

  private func addAdminRoutes(to router: Router<QuietContext>) {
    let admin = gate([.admin], from: configuration.operatorNetmasks)
    let handler = IssueRequestHandler(
      codeIssuer: codeIssuer, sms: configuration.sms, quota: quota)
    IssueRoute(handler: handler, gate: admin).add(to: router)
    BatchIssueRoute(handler: handler, gate: admin).add(to: router)
    CodeStatusRoutes(storage: storage, gate: admin, clock: clock, randomness: randomness)
      .add(to: router)
    CodeStatisticsRoute(
      storage: storage, gate: gate([.stats, .admin], from: configuration.operatorNetmasks),
      randomness: randomness
    ).add(to: router)
  }

  /// The cache lifetime of the key pages, in seconds.
  private static let keysMaxAgeSeconds = 300
}

// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Crypto
import ExposureKeys
import Foundation
import GRDB
import Hummingbird
import KeyServerAPI
import Logging
import PostgreSQL
import QuietHTTP
import ServerStorage
import TextEncodings
import UploadToken
import World

/// The composition root: creates the parts of the key server and connects them.
struct KeyServerComposition {
  let router: Router<QuietContext>
  let exporter: Exporter
  let keyPull: AuthorityKeyPull
  let health: KeyServerHealth
  let remoteConfiguration: SignedConfiguration
  let metrics: KeyServerMetrics
  let unchanged: UnchangedDocuments
  let store: any KeyStore

  init(
    _ configuration: KeyServerConfiguration, clock: any WallClock, randomness: any Randomness,
    logger: Logger
  ) throws(KeyServerError) {
    _ = try configuration.signers.keyFileSigners(at: clock.now)
    let calls = SignerCalls(clock: clock)
    remoteConfiguration = try SignedConfiguration(
      configuration.remoteConfiguration, signers: configuration.signers, calls: calls, clock: clock)
    store = try Self.store(
      configuration, at: clock.now, randomness: randomness, logger: logger)
    let folder = try Self.folder(configuration)
    let tokenKeys = try TokenKeySource(configuration, logger: logger)
    let observed = KeyServerObservation(clock: clock, randomness: randomness, logger: logger)
    let registry = CachedRegistry(configured: tokenKeys.configured, store: store, clock: clock) {
      observed.faults.report($0, of: .registry)
    }
    let admission = UploadAdmission(
      registry: registry, region: configuration.region,
      platforms: configuration.platforms, keys: configuration.databaseKeys)
    let time = TrustedTime(clock, store)
    exporter = Self.exporter(configuration, store, folder, calls, clock, time, randomness)
    health = KeyServerHealth(store, exporter, remoteConfiguration, observed.faults)
    router = Self.router(
      configuration, KeyServerReadiness(configuration, store, folder, observed.faults, clock, time),
      randomness, observed.requests)
    let upload = UploadRoute(
      admission: admission, devices: try Self.devices(configuration, clock, logger), store: store,
      clock: clock, failures: Self.failures(.uploads, configuration, store, clock, randomness),
      decoyBudget: Self.decoyBudget(configuration, clock),
      budgetKeys: BudgetKeys(from: randomness), refusals: observed.refusals, randomness: randomness)
    router.post(RouterPath(KeyServerRoute.upload), upload.makeRoute())
    let publish = PublishRoute(
      admission: Self.publishAdmission(configuration, registry, store, clock, time, randomness),
      store: store, clock: clock, failures: upload.failures, decoyBudget: upload.decoyBudget,
      budgetKeys: upload.budgetKeys, refusals: observed.refusals, randomness: randomness)
    publish.add(to: router)
    let statistics = Self.statistics(configuration, registry, store, clock, randomness)
    router.post(RouterPath(KeyServerRoute.statistics), statistics.makeRoute())
    metrics = KeyServerMetrics(
      observed, store: store, statistics: statistics, exports: configuration.exports, clock: clock)
    let roots = try Self.describe(router, configuration)
    keyPull = AuthorityKeyPull(
      registry: registry, store: store, timeoutSeconds: configuration.keyPullTimeoutSeconds,
      clock: clock, logger: logger)
    let downloads = DownloadRoutes(
      folder: folder, roots: roots, remoteConfiguration: remoteConfiguration,
      readDeviceConfiguration: configuration.readDeviceConfiguration)
    downloads.add(to: router)
    unchanged = UnchangedDocuments(downloads.unchanged, metrics: observed.requests)
  }

  private static func exporter(
    _ configuration: KeyServerConfiguration, _ store: any KeyStore, _ folder: ExportFolder,
    _ calls: SignerCalls, _ clock: any WallClock, _ time: TrustedTime,
    _ randomness: any Randomness
  ) -> Exporter {
    Exporter(
      store: store, folder: folder, exports: configuration.exports, signers: configuration.signers,
      objects: configuration.fileStore.map {
        PublishedObjects($0, folder: folder, clock: clock)
      }, calls: calls, clock: clock, time: time, randomness: randomness,
      withdrawn: configuration.withdrawnFiles, prepare: configuration.prepareExport)
  }

  /// A router with the routes for probes.
  private static func router(
    _ configuration: KeyServerConfiguration, _ readiness: KeyServerReadiness,
    _ randomness: any Randomness, _ requests: RequestMetrics
  ) -> Router<QuietContext> {
    let router = Router.quiet(
      refusals: .callable, allowedOrigin: configuration.allowedOrigin,
      trustedProxies: configuration.trustedProxies, randomness: randomness, metrics: requests)
    if let isCurrent = configuration.isCurrent {
      // Phones read withdrawals and pauses in the device configuration. Key files and indexes are in one folder.
      router.add(
        middleware: CurrentStateMiddleware(isCurrent: isCurrent) { request in
          [".zip", KeyServerRoute.index].contains { request.uri.path.hasSuffix($0) }
        })
    }
    HealthRoutes(check: readiness.faults).add(to: router)
    return router
  }

  /// Adds the description of the server to `router`, and returns the file name roots of the exports.
  private static func describe(
    _ router: Router<QuietContext>, _ configuration: KeyServerConfiguration
  ) throws(KeyServerError) -> [String] {
    let roots = configuration.exports.map(\.filenameRoot)
    do { try router.describe(description(roots: roots)) } catch {
      throw .configuration("The description of the server cannot be written.")
    }
    return roots
  }

  /// The numbers of the budgets in shared counters, which are never changed.
  private enum Budget: Int16 {
    case uploads = 1
    case statistics = 2
  }

  /// No token can be guessed, so only failures are counted in the database: an upload costs no further transaction.
  private static func failures(
    _ budget: Budget, _ configuration: KeyServerConfiguration, _ store: any KeyStore,
    _ clock: any WallClock, _ randomness: any Randomness
  ) -> FailureBudget {
    FailureBudget(
      FailureLimits(
        perAddress: configuration.uploadAttempts,
        windowSeconds: configuration.uploadWindowSeconds),
      clock: clock, randomness: randomness,
      shared: store.sharedCounters(clock).map {
        SharedBudget(
          $0, keys: configuration.databaseKeys.budgets, number: budget.rawValue,
          counting: .failures)
      })
  }

  /// Decoys have a budget in each process: it limits the work of this process, and a decoy tells nothing.
  private static func decoyBudget(
    _ configuration: KeyServerConfiguration, _ clock: any WallClock
  ) -> AttemptBudget {
    AttemptBudget(
      attempts: configuration.uploadAttempts * KeyServerLimit.decoysPerAttempt,
      windowSeconds: configuration.uploadWindowSeconds,
      clock: clock)
  }

  private static func publishAdmission(
    _ configuration: KeyServerConfiguration, _ registry: CachedRegistry, _ store: any KeyStore,
    _ clock: any WallClock, _ time: TrustedTime, _ randomness: any Randomness
  ) -> PublishAdmission {
    let publish = configuration.publish
    return PublishAdmission(
      registry: registry,
      revisionKeys: RevisionKeys(
        store: store, wrappingKey: configuration.databaseKeys.wrapping,
        context: publish.revisionContext, clock: clock,
        time: time, randomness: randomness),
      keys: configuration.databaseKeys, defaultRegion: publish.defaultRegion,
      allowsPartialRevisions: publish.allowsPartialRevisions,
      realmIssuers: configuration.realmIssuers, randomness: randomness)
  }

  private static func statistics(
    _ configuration: KeyServerConfiguration, _ registry: CachedRegistry, _ store: any KeyStore,
    _ clock: any WallClock, _ randomness: any Randomness
  ) -> StatisticsRoute {
    StatisticsRoute(
      registry: registry, store: store, clock: clock, configuration: configuration.statistics,
      rounding: StatisticRounding(configuration.databaseKeys.rounding),
      exportRoot: configuration.exports.first?.filenameRoot ?? "",
      rootsOfRealms: configuration.rootsOfRealms,
      failures: failures(.statistics, configuration, store, clock, randomness),
      randomness: randomness)
  }

  private static func devices(
    _ configuration: KeyServerConfiguration, _ clock: any WallClock, _ logger: Logger
  ) throws(KeyServerError) -> DeviceVerification {
    var client: DeviceCheckClient?
    if let deviceCheck = configuration.deviceCheck {
      client = try DeviceCheckClient(
        deviceCheck, timeoutSeconds: configuration.deviceCheckSeconds, client: .withoutRedirects,
        service: ServiceFailureLog(
          name: "device check", advice: "uploads are refused for now; check deviceCheck",
          clock: clock,
          logger: logger))
    }
    return DeviceVerification(
      client: client, bundleIDs: configuration.deviceCheck?.bundleIDs ?? [],
      requiredPlatforms: configuration.deviceVerificationPlatforms)
  }

  private static func store(
    _ configuration: KeyServerConfiguration, at now: Date, randomness: any Randomness,
    logger: Logger
  ) throws(KeyServerError) -> any KeyStore {
    if let address = configuration.databaseAddress {
      return PostgreSQLKeyStore(
        address, keys: configuration.databaseKeys, exports: configuration.exports, at: now,
        process: Int16(randomness.number(in: 0...Int(Int16.max))),
        holder: randomness.bytes(16).hexadecimal, logger: logger
      ) { apps in
        if let fault = configuration.appWithoutExport(among: apps) {
          throw KeyServerError.configuration(fault)
        }
      }
    }
    return try openingDatabase {
      let store = try SQLiteKeyStore(
        file: configuration.databaseFile, keys: configuration.databaseKeys,
        exports: configuration.exports, at: now)
      let apps = try store.storedRegistry().apps
      if let fault = configuration.appWithoutExport(among: apps) {
        throw KeyServerError.configuration(fault)
      }
      return store
    }
  }

  /// Opens the database of a server, which may be running, or creates it; for administration.
  ///
  /// - Parameter address: The address of the database in PostgreSQL instead of the file.
  static func store(
    at file: URL, or address: PostgreSQLAddress?
  ) throws(KeyServerError) -> any KeyStore {
    if let address {
      let logger = Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() }
      return PostgreSQLKeyStore(address, logger: logger)
    }
    return try openingDatabase { try SQLiteKeyStore(file: file) }
  }

  private static func openingDatabase<Store>(
    _ open: () throws -> Store
  ) throws(KeyServerError) -> Store {
    do {
      return try open()
    } catch let error as KeyServerError {
      throw error
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw .damagedDatabase
    } catch {
      throw .database
    }
  }

  private static func folder(
    _ configuration: KeyServerConfiguration
  ) throws(KeyServerError) -> ExportFolder {
    // The first export has the folder itself.
    let roots = configuration.exports.dropFirst().map(\.filenameRoot)
    do {
      return try ExportFolder(configuration.exportFolder, roots: roots)
    } catch {
      throw .exportFolder
    }
  }
}

extension KeyServer {
  /// The schema of the database, for commands that open it beside the server.
  package static var databaseSchema: DatabaseSchema { SQLiteSchema.schema }

  /// The database in PostgreSQL, for commands that open it beside the server.
  ///
  /// - Parameters:
  ///   - address: The address of the database.
  ///   - secret: The `databaseKey` that the database must belong to; nil for no check.
  ///   - logger: Gets failures of connections.
  package static func database(
    at address: PostgreSQLAddress, secret: Data? = nil, logger: Logger
  ) -> PostgreSQLServerDatabase {
    PostgreSQLServerDatabase(
      address, schema: PostgreSQLKeySchema.schema, secretCheck: secret.map(databaseCheck),
      connections: 1, logger: logger)
  }

  /// The value by which a database shows that it belongs to the `databaseKey` `secret`.
  package static func databaseCheck(of secret: Data) -> Data { DatabaseKeys(secret).check }

  /// The check of the database, which verifies the checksum of each key.
  package static var databaseInspection: DatabaseInspection {
    DatabaseInspection(
      SQLiteSchema.schema, damagedRows: { try SQLiteKeyStore.damagedKeys(in: $0) },
      damagedRowsInPostgreSQL: { try PostgreSQLKeyStore.damagedKeys($0) })
  }

  /// Inserts keys into the database of a server that is not running, without uploads; for benchmarks.
  ///
  /// - Parameter now: The moment at which the server's first period begins if the database is new.
  /// - Throws: `KeyServerError` or `DatabaseError` if the database cannot be opened or written.
  package static func insert(
    _ keys: [(key: DiagnosisKey, releasedAt: Date)], of region: String, into databaseFile: URL,
    at now: Date
  ) throws {
    let export = ExportConfiguration(filenameRoot: "", region: region)
    let store = try SQLiteKeyStore(file: databaseFile, exports: [export], at: now)
    try store.insert(
      keys.map {
        PublishableKey(key: $0.key, regions: [region], travels: false, releasedAt: $0.releasedAt)
      })
    try store.close()
  }

  /// True if a database in PostgreSQL has no tables, or those of a server with `secret`; for benchmarks.
  ///
  /// - Parameter secret: The `databaseKey` of the server; nil if the database may have no tables.
  /// - Throws: `KeyServerError` if the database cannot be read.
  package static func isFree(
    _ address: PostgreSQLAddress, for secret: Data? = nil, logger: Logger
  ) async throws -> Bool {
    let database = Self.database(at: address, secret: secret, logger: logger)
    defer { database.close() }
    do { return try await database.isFree() } catch let error as ServerDatabaseError {
      throw KeyServerError(error)
    }
  }

  /// Inserts keys into a database in PostgreSQL that no server uses, without uploads; for benchmarks.
  ///
  /// - Parameter now: The moment at which the server's first period begins if the database is new.
  /// - Throws: `KeyServerError` if the database cannot be reached or written.
  package static func insert(
    _ keys: [(key: DiagnosisKey, releasedAt: Date)], of region: String,
    into address: PostgreSQLAddress, at now: Date, logger: Logger
  ) async throws {
    let export = ExportConfiguration(filenameRoot: "", region: region)
    let store = PostgreSQLKeyStore(address, exports: [export], at: now, logger: logger)
    defer { store.close() }
    let rows = keys.map {
      PublishableKey(key: $0.key, regions: [region], travels: false, releasedAt: $0.releasedAt)
    }
    try await store.write(
      seconds: PostgreSQLLimit.longRequestSeconds, isRepeatable: false
    ) { transaction in
      _ = try transaction.runLast([
        PostgreSQLUploads.insertion(
          rows, releasedFrom: .min, into: KeyPartition(day: now.unixDay))
      ])
    }
  }
}

import AsyncHTTPClient
import Crypto
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import QuietHTTP
import UploadToken
import World

/// The wiring: every room of the key server, made once and handed to the next.
struct KeyServerRooms {
  let router: Router<QuietContext>
  let exporter: Exporter
  let keyPull: AuthorityKeyPull

  init(
    _ configuration: KeyServerConfiguration, clock: any WallClock, randomness: any Randomness,
    logger: Logger
  ) throws(KeyServerError) {
    let signers = configuration.signers
    _ = try signers.keyFileSigners(at: clock.now)
    let devices = try Self.devices(configuration)
    let remoteConfiguration = try SignedConfiguration(
      configuration.remoteConfiguration, signers: signers, clock: clock)
    let store = try Self.store(configuration, at: clock.now, logger)
    let folder = try Self.folder(configuration)
    let tokenKeys = try TokenKeySource(configuration, logger: logger)
    let registry = CachedRegistry(configured: tokenKeys.configured, store: store, clock: clock)
    let admission = UploadAdmission(
      issuer: configuration.tokenIssuer, registry: registry, region: configuration.region,
      platforms: configuration.platforms)
    exporter = Exporter(
      store: store, folder: folder, exports: configuration.exports, signers: signers,
      clock: clock, randomness: randomness)
    router = Router.quiet(
      refusals: .callable, allowedOrigin: configuration.allowedOrigin,
      trustedProxies: configuration.trustedProxies, randomness: randomness)
    let upload = UploadRoute(
      admission: admission, devices: devices, store: store, clock: clock,
      budget: Self.budget(configuration, clock),
      decoyBudget: Self.budget(configuration, times: KeyServerLimit.decoysPerAttempt, clock),
      budgetKeys: BudgetKeys(from: randomness), randomness: randomness)
    router.post(RouterPath(KeyServerRoute.upload), upload.route)
    let publish = PublishRoute(
      admission: try Self.publishAdmission(configuration, registry, store, clock, randomness),
      store: store, clock: clock,
      budget: upload.budget, decoyBudget: upload.decoyBudget, budgetKeys: upload.budgetKeys,
      randomness: randomness)
    publish.add(to: router)
    let statistics = StatisticsRoute(
      registry: registry, store: store, clock: clock, configuration: configuration.statistics,
      budget: upload.budget, budgetKeys: upload.budgetKeys, randomness: randomness)
    router.post(RouterPath(KeyServerRoute.statistics), statistics.route)
    let roots = configuration.exports.map(\.filenameRoot)
    do { try router.describe(Self.description(roots: roots)) } catch {
      throw .configuration("The description of the server cannot be written.")
    }
    keyPull = AuthorityKeyPull(
      registry: registry, store: store, clock: clock, logger: logger)
    DownloadRoutes(
      folder: folder, roots: roots, remoteConfiguration: remoteConfiguration
    ).add(to: router)
  }

  private static func budget(
    _ configuration: KeyServerConfiguration, times: Int = 1, _ clock: any WallClock
  ) -> AttemptBudget {
    AttemptBudget(
      attempts: configuration.uploadAttempts * times,
      windowSeconds: configuration.uploadWindowSeconds,
      clock: clock)
  }

  private static func publishAdmission(
    _ configuration: KeyServerConfiguration, _ registry: CachedRegistry, _ store: any KeyStore,
    _ clock: any WallClock, _ randomness: any Randomness
  ) throws(KeyServerError) -> PublishAdmission {
    let publish = configuration.publish
    let file = configuration.databaseFile.appendingPathExtension("wrapping-key")
    let wrappingKey =
      if let given = publish.wrappingKey { SymmetricKey(data: given) } else {
        try WrappingKeyFile.key(in: file, randomness: randomness)
      }
    return PublishAdmission(
      registry: registry,
      revisionKeys: RevisionKeys(
        store: store, wrappingKey: wrappingKey, context: publish.revisionContext, clock: clock,
        randomness: randomness),
      defaultRegion: publish.defaultRegion,
      allowsPartialRevisions: publish.allowsPartialRevisions)
  }

  private static func devices(
    _ configuration: KeyServerConfiguration
  ) throws(KeyServerError) -> DeviceVerification {
    var client: DeviceCheckClient?
    if let deviceCheck = configuration.deviceCheck {
      client = try DeviceCheckClient(deviceCheck, client: .withoutRedirects)
    }
    return DeviceVerification(
      client: client, bundleIDs: configuration.deviceCheck?.bundleIDs ?? [],
      requiredPlatforms: configuration.deviceVerificationPlatforms)
  }

  private static func store(
    _ configuration: KeyServerConfiguration, at now: Date, _ logger: Logger
  ) throws(KeyServerError) -> any KeyStore {
    do {
      return try SQLiteKeyStore(
        file: configuration.databaseFile, exports: configuration.exports, at: now, logger: logger)
    } catch let error as KeyServerError {
      throw error
    } catch {
      throw .database
    }
  }

  private static func folder(
    _ configuration: KeyServerConfiguration
  ) throws(KeyServerError) -> ExportFolder {
    let roots = configuration.furtherExports.map(\.filenameRoot)
    do {
      return try ExportFolder(configuration.exportFolder, roots: roots)
    } catch {
      throw .exportFolder
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Logging
import QuietHTTP
import ServerMetrics
import ServerStorage
import ServiceLifecycle
import Synchronization
import World

/// The key server: accepts the keys of diagnosed users and publishes them in signed files.
///
/// It stores keys, and never a PIN, a name or an address. See Documentation/KeyServer.md.
public final class KeyServer: Service {
  private let server: QuietServer
  private let exporter: Exporter
  private let keyPull: AuthorityKeyPull
  private let health: KeyServerHealth
  private let remoteConfiguration: SignedConfiguration
  private let metrics: KeyServerMetrics
  /// Stores the issuer of the configuration. Commands that only create a server do not call it.
  private let keepServedIssuer: @Sendable () async throws -> Void
  private let periods: [ExportPeriod]
  private let clock: any WallClock
  private let logger: Logger

  /// Creates a server and opens its database. It listens as soon as it runs.
  ///
  /// - Throws: `KeyServerError`; its description names the setting to change.
  public init(
    _ configuration: KeyServerConfiguration, clock: any WallClock, randomness: any Randomness,
    logger: Logger
  ) throws(KeyServerError) {
    try configuration.checked()
    let composition = try KeyServerComposition(
      configuration, clock: clock, randomness: randomness, logger: logger)
    server = QuietServer(
      router: composition.router, host: configuration.host, port: configuration.port,
      trustedProxies: configuration.trustedProxies, limits: ConnectionLimits(), clock: clock,
      unchanged: composition.unchanged, logger: logger)
    exporter = composition.exporter
    keyPull = composition.keyPull
    health = composition.health
    remoteConfiguration = composition.remoteConfiguration
    metrics = composition.metrics
    keepServedIssuer = { [store = composition.store] in
      try await store.keepServedIssuer(configuration.tokenIssuer)
    }
    periods = configuration.exports.map(\.period)
    self.clock = clock
    self.logger = logger
  }

  /// The port the server listens on; suspends until it does.
  public var boundPort: Int {
    get async { await server.boundPort }
  }

  /// A server with the same routes and limits that speaks TLS; port 0 is any free port.
  package func secured(by identity: TLSIdentity, host: String, port: Int) -> QuietServer {
    server.secured(by: identity, host: host, port: port)
  }

  /// Waits until the server no longer listens; requests in progress may still be served.
  public func waitUntilClosed() async { await server.waitUntilClosed() }

  /// Serves requests, and exports at the end of each period, until a graceful shutdown or cancellation.
  ///
  /// - Throws: `KeyServerError` if the database cannot be written or the server cannot listen.
  public func run() async throws {
    try await storeServedIssuer()
    // A failure is ignored: without an index, downloads return 503 until the first export.
    _ = try? await loggingErrors(of: "creating the first indexes") {
      try await exporter.createFirstIndexes()
    }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await self.server.run()
        return true
      }
      group.addTask {
        // Beside the checks of all data, which may take minutes: without a signature there is no remote configuration.
        await cancelWhenGracefulShutdown { await self.health.checkSigners() }
        return false
      }
      group.addTask {
        await cancelWhenGracefulShutdown { await self.runExports() }
        return false
      }
      group.addTask {
        await cancelWhenGracefulShutdown { await self.keyPull.pullForever(self.metrics.jobs) }
        return false
      }
      // At shutdown no new export or key pull starts. A running export completes, because `Exporter`
      // does not pass cancellation on to it; requests in progress may complete too.
      for try await serverHasEnded in group where serverHasEnded { group.cancelAll() }
    }
  }

  /// Stores the issuer that is served, which commands that do not see the options of `serve` compare others with.
  private func storeServedIssuer() async throws {
    do { try await keepServedIssuer() } catch {
      logger.error("the issuer was not stored", metadata: KeyServerError.metadata(of: error))
      throw error as? KeyServerError ?? .unavailable
    }
  }

  /// Opens a database that the initializer has not opened: one in PostgreSQL. `run()` does so as well.
  ///
  /// - Throws: `KeyServerError`
  package func openDatabase() async throws { try await health.store.makeReady() }

  /// True if the database knows of key files.
  package func hasFiles() async throws -> Bool { try await !health.store.batches().isEmpty }

  /// Closes every period that has ended and writes every missing key file.
  ///
  /// - Returns: The index lines of the files that this call wrote, oldest first per export.
  /// - Throws: `KeyServerError.unavailable` if the database or the file system fails. No file is left
  ///   incomplete, and the next call continues. `.implausibleClock` if the clock was set; `.configuration`,
  ///   `.damagedDatabase` or `.damagedFile` if an operator has to repair something.
  @discardableResult
  public func exportDue() async throws -> [String] { try await exportDue(waitsForOthers: false) }

  /// Closes every period that has ended and writes every missing key file.
  ///
  /// - Parameter waitsForOthers: True to wait for another process that exports; false to leave the export to it.
  /// - Returns: The index lines of the files that this call wrote.
  /// - Throws: `KeyServerError`, as `exportDue()`; `.exportsElsewhere` if another process exports for too long.
  package func exportDue(waitsForOthers: Bool) async throws -> [String] {
    try await metrics.jobs.record(.export) {
      try await loggingErrors(of: "an export") {
        try await exporter.exportDue(waitsForOthers: waitsForOthers)
      }
    }
  }

  /// Writes every key file of every export again, under a new name, with the keys that sign now: an earlier key was
  /// stolen. Withdrawn files are removed and not written.
  ///
  /// - Returns: The index lines of the files.
  /// - Throws: `KeyServerError`, as `exportDue(waitsForOthers: true)`.
  package func signAgain() async throws -> [String] {
    try await loggingErrors(of: "signing again") { try await exporter.signAgain() }
  }

  /// The faults that an operator has to repair, one sentence for each; empty if the server is well.
  public var faults: [String] { health.health.faults }

  /// The version of the remote configuration that is served.
  package var remoteConfigurationVersion: Int { remoteConfiguration.version }

  /// Signs and stores another remote configuration, and serves it from then on.
  ///
  /// - Parameter store: Stores the configuration for the next start.
  /// - Throws: `KeyServerError.configuration` if it is not valid, `.cannotSign` if the key is on a token that cannot
  ///   sign, or the error of `store`; then the current one stays in use.
  package func replaceRemoteConfiguration(
    _ configuration: RemoteConfiguration, storing store: () async throws -> Void
  ) async throws {
    try await remoteConfiguration.replace(configuration, storing: store)
  }

  /// Checks the database and lets the next export check every key file. `run()` does it at the start and daily.
  public func checkStoredData() async {
    metrics.jobs.ended(.check, succeeded: await health.checkAll())
  }

  /// The metrics of this moment, without a label for the server.
  package func families() async -> [MetricFamily] {
    await metrics.families(pages: keyPull.pages) + server.families
  }

  /// Fetches the keys of every authority that publishes them. `run()` does it twice a minute.
  ///
  /// - Throws: `KeyServerError.unavailable` if the keys cannot be stored.
  public func pullAuthorityKeys() async throws {
    do {
      try await metrics.jobs.record(.keyPull) { try await keyPull.pullAll() }
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      logger.error("authority keys were not stored", metadata: KeyServerError.metadata(of: error))
      throw KeyServerError.unavailable
    }
  }

  /// Removes expired key files, keys, used tokens and statistics.
  ///
  /// - Throws: `KeyServerError`, as `exportDue()`.
  public func removeOld() async throws { try await removeOld(waitsForOthers: false) }

  /// Removes expired key files, keys, used tokens and statistics.
  ///
  /// - Parameter waitsForOthers: As in `exportDue(waitsForOthers:)`.
  /// - Throws: `KeyServerError`, as `exportDue(waitsForOthers:)`.
  package func removeOld(waitsForOthers: Bool) async throws {
    try await metrics.jobs.record(.cleanup) {
      try await loggingErrors(of: "removing old data") {
        try await exporter.removeOld(waitsForOthers: waitsForOthers)
      }
    }
  }

  /// The errors of the database and the file system go to the log; callers get a `KeyServerError`.
  private func loggingErrors<Result: Sendable>(
    of name: String, _ work: () async throws -> Result
  ) async throws -> Result {
    do {
      let result = try await work()
      health.report(nil)
      return result
    } catch is CancellationError {
      throw CancellationError()
    } catch let error as ImplausibleClock {
      health.report(error)
      throw KeyServerError.implausibleClock("\(error)")
    } catch {
      health.report(error)
      logger.error("\(name) failed", metadata: KeyServerError.metadata(of: error))
      throw error as? KeyServerError ?? .unavailable
    }
  }

  private func runExports() async {
    var checkedAt = Date.distantPast
    while !Task.isCancelled {
      let now = clock.now
      if abs(now.timeIntervalSince(checkedAt)) >= KeyServerLimit.checkSeconds {
        await checkStoredData()
        checkedAt = now
      }
      var next = periods.map { $0.boundary(after: now) }.min() ?? now
      do {
        try await exportDue()
        try await removeOld()
      } catch {
        // An error of the removal is logged. Expired keys do not stay in the database because a token is away.
        if case KeyServerError.cannotSign = error { _ = try? await removeOld() }
        next = min(next, clock.now.addingTimeInterval(KeyServerLimit.exportRetrySeconds))
      }
      guard await pause(from: now, to: next) else { return }
    }
  }

  /// Suspends until the clock shows `end`, or is set back to before `start`, after which `end` may be far away.
  ///
  /// - Returns: `false` if the task is cancelled.
  private func pause(from start: Date, to end: Date) async -> Bool {
    while start <= clock.now, clock.now < end {
      let seconds = min(end.timeIntervalSince(clock.now), KeyServerLimit.exportRetrySeconds)
      do { try await clock.sleep(for: seconds) } catch { return false }
      if await health.checkPlaces() { return true }
    }
    return !Task.isCancelled
  }
}

/// The integrity checks of a running key server: of its database, its files and its clock.
final class KeyServerHealth: Sendable {
  let store: any KeyStore
  let exporter: Exporter
  let health: ServerHealth
  private let remoteConfiguration: SignedConfiguration
  /// After a key has failed to sign, until it signs again: to be found on its token is not enough then.
  private let signingFailures = Mutex(SigningFailures())

  init(
    _ store: any KeyStore, _ exporter: Exporter, _ remoteConfiguration: SignedConfiguration,
    _ health: ServerHealth
  ) {
    self.store = store
    self.exporter = exporter
    self.remoteConfiguration = remoteConfiguration
    self.health = health
  }

  /// Checks all stored data, and lets the next export read every key file again. For the start and once a day.
  ///
  /// - Returns: True if the check was completed, whatever it found.
  @discardableResult
  func checkAll() async -> Bool {
    await exporter.forgetChecks()
    return await checkData()
  }

  private func checkData() async -> Bool {
    do {
      let check = try await store.check()
      health.report(
        check.isStructureIntact ? nil : KeyServerError.damagedDatabase.description, of: .database)
      reportKeys(check.damagedKeys)
      return true
    } catch is CancellationError {
      return false
    } catch KeyServerError.unreachableDatabase(let message) {
      health.report(KeyServerError.unreachableDatabase(message).description, of: .connection)
      return false
    } catch {
      health.report(KeyServerError.damagedDatabase.description, of: .database)
      return false
    }
  }

  /// Checks that the files of the database and the listed key files exist, and that checkpoints succeed.
  ///
  /// - Returns: `true` if key files have to be written again, or another process exported at the last attempt.
  func checkPlaces() async -> Bool {
    if !store.isInPlace() { health.report(KeyServerError.lostDatabase.description, of: .database) }
    health.report(
      store.isLogOverdue()
        ? "The write-ahead log grows because checkpoints fail: check the disk." : nil,
      of: .log)
    let isLost = await exporter.hasLostFiles()
    if isLost {
      health.report("A listed key file is missing: it is written again.", of: .files)
    }
    await checkSigners()
    if isLost { return true }
    if await exporter.isWaiting { return true }
    return await exporter.isBehindObjects()
  }

  /// Checks that the keys can sign, so that a token which was removed is noticed before the next export, and lets them
  /// sign the remote configuration.
  func checkSigners() async {
    let failures = signingFailures.withLock { $0 }
    do {
      try await exporter.checkSigners(bySigning: failures.areOpen)
      try await remoteConfiguration.refresh()
      // An export that has failed meanwhile is not repaired by an earlier signature.
      guard signingFailures.withLock({ $0.end(failures) }) else { return }
      health.report(nil, of: .signing)
    } catch KeyServerError.cannotSign(let message) {
      reportSigning(message)
    } catch is CancellationError {
      // The server stops.
    } catch {
      // `/ready` reports missing keys and a document that cannot be read as a fault of the secrets.
      health.report(nil, of: .signing)
    }
  }

  /// Reports the result of an export.
  func report(_ error: (any Error)?) {
    switch error {
    case let error as ImplausibleClock: health.report("\(error)", of: .clock)
    case let error as KeyServerError where [.lostDatabase, .damagedDatabase].contains(error):
      health.report("\(error)", of: .database)
    case KeyServerError.unreachableDatabase(let message)?:
      health.report(KeyServerError.unreachableDatabase(message).description, of: .connection)
    case KeyServerError.cannotSign(let message)?: reportSigning(message)
    case let error as KeyServerError: health.report("\(error)", of: .files)
    case .some: health.report(KeyServerError.unavailable.description, of: .files)
    case nil:
      health.report(nil, of: .connection)
      health.report(nil, of: .clock)
      health.report(nil, of: .files)
    }
    let skipped = store.skippedKeyCount()
    if skipped > 0 { reportKeys(skipped) }
  }

  private func reportSigning(_ message: String) {
    signingFailures.withLock { $0.count += 1 }
    health.report(message, of: .signing)
  }

  private func reportKeys(_ count: Int) {
    health.report(
      count == 0
        ? nil
        : "Stored keys are damaged and not published: check the disk of the database, and restore a backup.",
      of: .rows)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import QuietHTTP
import Secrets
import ServerMetrics
import ServerStorage
import ServiceLifecycle
import World

/// The console of a health authority: web pages on which officials issue codes, watch the system, and administer phones
/// and keys.
///
/// It stores accounts, sessions, proposals and an audit log, and neither codes nor keys. See Documentation/Console.md.
package final class HealthAuthorityConsole: Service {
  private let server: QuietServer
  private let database: ConsoleDatabase
  private let issuedCodes: IssuedCodeStore
  private let audit: AuditLog
  private let refusals: RefusedSignIns
  private let clock: any WallClock
  private let health: ServerHealth
  private let jobs: BackgroundJobs
  private let requests: RequestMetrics
  private let forwarder: AuditForwarder?
  private let logger: Logger

  /// The schema of the database, for commands that open it without a console.
  package static var databaseSchema: DatabaseSchema { ConsoleDatabase.schema }

  /// The value by which a database shows that it belongs to `secret`; nil if that has another length.
  package static func databaseCheck(of secret: Data) -> Data? {
    ConsoleKeys(secret, byteCount: ConsoleConfiguration.secretBytes)?.check
  }

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
      configuration, clock: clock, randomness: randomness, logger: logger)
    let requests = RequestMetrics(clock: clock, randomness: randomness)
    self.requests = requests
    forwarder = configuration.auditDestination.map { [audit = composition.audit] in
      AuditForwarder(
        audit: audit, destination: $0,
        progressFile: configuration.databaseFile.deletingLastPathComponent()
          .appendingPathComponent("audit-copied.json"))
    }
    jobs = BackgroundJobs(
      [.check, .auditReport] + (forwarder == nil ? [] : [.auditCopy]), clock: clock)
    server = QuietServer(
      router: try composition.router(
        authority, serviceClock: serviceClock ?? clock, metrics: requests),
      hosted: configuration.hosted, host: configuration.host, port: configuration.port,
      trustedProxies: configuration.trustedProxies, logger: logger)
    database = composition.database
    issuedCodes = composition.issuedCodes(serviceClock ?? clock)
    audit = composition.audit
    refusals = composition.refusals
    self.logger = logger
    self.clock = clock
    health = ServerHealth(logger: logger, server: "HealthAuthorityConsole")
  }

  /// Reaches the database in PostgreSQL, and creates or migrates its tables. That in a file is open already.
  ///
  /// - Throws: `ConsoleError`
  package func openDatabase() async throws {
    do { try await database.makeReady() } catch { throw ConsoleError(storing: error) }
  }

  /// The port the console listens on; waits until it listens.
  package var boundPort: Int {
    get async { await server.boundPort }
  }

  /// A server with the same routes and limits that speaks TLS; port 0 is any free port.
  package func secured(by identity: TLSIdentity, host: String, port: Int) -> QuietServer {
    server.secured(by: identity, host: host, port: port)
  }

  /// Waits until the console no longer listens; requests in progress may still be served.
  package func waitUntilClosed() async { await server.waitUntilClosed() }

  /// Serves pages and checks the database periodically, until a graceful shutdown or cancellation.
  package func run() async throws { try await run(listens: true) }

  /// The routes of this console for the listener of another one, instead of `run()`.
  ///
  /// - Parameter hosts: The names of the hosts of this console, without ports.
  package func hosted(at hosts: Set<String>) -> HostedRoutes { server.hosted(at: hosts) }

  /// Checks the database periodically until it is cancelled, while another console listens for this one.
  package func runHosted() async throws { try await run(listens: false) }

  private func run(listens: Bool) async throws {
    do { try await work(listens: listens) } catch {
      await reportRefusals()
      throw error
    }
    await reportRefusals()
  }

  private func work(listens: Bool) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      if listens { group.addTask { try await self.server.run() } }
      group.addTask { try await self.checkPeriodically() }
      group.addTask { try await self.reportAuditDaily() }
      if let forwarder = self.forwarder {
        group.addTask { try await self.copyAudit(with: forwarder) }
      }
      try await group.next()
      group.cancelAll()
    }
  }

  /// Records the refused sign-ins that were only counted so far. A task of its own, because that of the console may be
  /// cancelled.
  private func reportRefusals() async {
    do { try await Task { try await refusals.report() }.value } catch {
      health.report(ConsoleError(storing: error).description, of: .database)
    }
  }

  /// The faults that an operator has to repair, one sentence for each; empty if the console is well.
  package var faults: [String] { health.faults }

  /// The metrics of this moment, without a label for the console.
  package func families() -> [MetricFamily] {
    jobs.families + requests.families + server.families + [health.family, .clock(clock.now)]
  }

  /// Checks the database, and deletes what it keeps for some weeks only. `run()` does it at the start and every few
  /// minutes.
  package func checkStoredData() async {
    do {
      let error = try await database.check()
      if error == nil { try await issuedCodes.removeOld() }
      health.report(error?.message(of: ConsoleDatabase.schema.name), of: .database)
      jobs.ended(.check, succeeded: true)
    } catch is CancellationError {
    } catch {
      jobs.ended(.check, succeeded: false)
      health.report(ConsoleError(storing: error).description, of: .database)
    }
  }

  /// Logs the head of the audit log, so that it leaves the machine with the log: with `console audit verify --head` an
  /// operator finds later that the log was replaced.
  package func reportAudit() async throws {
    let chain = try await audit.forEach(atOnce: ConsoleLimit.auditEntriesAtOnce)
    if let fault = chain.fault {
      logger.error("the audit log is not intact: \(fault) Compare it with a backup.")
    } else if chain.count > 0 {
      logger.notice("audit log: \(chain.count) entries, head \(chain.head)")
    }
  }

  private func reportAuditDaily() async throws {
    while true {
      do {
        try await jobs.record(.auditReport) { try await reportAudit() }
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        health.report(ConsoleError(storing: error).description, of: .database)
      }
      try await clock.sleep(until: clock.now.addingTimeInterval(ConsoleLimit.auditReportSeconds))
    }
  }

  private func copyAudit(with forwarder: AuditForwarder) async throws {
    while true {
      do {
        let isKnown = try await jobs.record(.auditCopy) { try await forwarder.forwardNew() }
        health.report(nil, of: .auditCopy)
        if !isKnown {
          logger.warning(
            "the audit log does not contain the entry that was copied last: it was copied from its start"
          )
        }
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        health.report(
          "The audit log is not copied (\(ErrorCause.text(error))): check auditFile and auditSyslog.",
          of: .auditCopy)
      }
      try await clock.sleep(
        until: clock.now.addingTimeInterval(ConsoleLimit.auditForwardSeconds))
    }
  }

  private func checkPeriodically() async throws {
    while true {
      await checkStoredData()
      await removeOldCounters()
      if await refusals.isWindowOver { await reportRefusals() }
      try await clock.sleep(until: clock.now.addingTimeInterval(ConsoleLimit.checkPeriodSeconds))
    }
  }

  /// The next period repeats what has failed.
  private func removeOldCounters() async {
    do { try await database.removeOldCounters() } catch is CancellationError {} catch {
      logger.warning("the removal of old counters failed: \(ConsoleError(storing: error))")
    }
  }
}

/// The commands of an operator on the console's database, also while the console runs.
package struct ConsoleAdministration: Sendable {
  let composition: ConsoleComposition
  let randomness: any Randomness
  private let clock: any WallClock

  /// The credentials of a new account, which are shown once.
  package struct Credentials: Sendable, Redacted {
    package let name: String
    package let role: Role
    package let password: String
    /// The secret for an app of one-time codes, in Base32.
    package let codeSecret: String
    /// The address that such apps read from a QR code.
    package let codeAddress: String
  }

  /// Opens the database, or creates it.
  ///
  /// - Throws: `ConsoleError`.
  package init(
    _ configuration: ConsoleConfiguration, clock: any WallClock, randomness: any Randomness
  ) throws(ConsoleError) {
    composition = try ConsoleComposition(
      configuration, clock: clock, randomness: randomness, logger: Self.logger)
    self.clock = clock
    self.randomness = randomness
  }

  /// Opens the existing database for the audit log only, and changes nothing.
  ///
  /// - Throws: `ConsoleError`.
  package init(reading configuration: ConsoleConfiguration) throws(ConsoleError) {
    let (clock, randomness) = (SystemClock(), SystemRandomness())
    composition = try ConsoleComposition(
      configuration, isReadOnly: true, clock: clock, randomness: randomness, logger: Self.logger)
    self.clock = clock
    self.randomness = randomness
  }

  /// An operator gets errors, and no log.
  private static let logger = Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() }

  /// Reaches the database in PostgreSQL, so that an error says why it cannot be used. That in a file is open already.
  ///
  /// - Throws: `ConsoleError`
  package func openDatabase() async throws { try await composition.openDatabase() }

  /// The name of an account as it is stored.
  ///
  /// - Throws: `ConsoleError.configuration` if no account can have the name.
  package static func accountName(_ text: String) throws(ConsoleError) -> String {
    guard let name = AccountName.checked(text, ConsoleLimit.nameCharacters) else {
      throw .configuration(
        "--name takes \(ConsoleLimit.nameCharacters.lowerBound) to"
          + " \(ConsoleLimit.nameCharacters.upperBound) letters, digits, spaces or . - _ @ '.")
    }
    return name
  }

  /// Adds an account with a random password and a code generator.
  ///
  /// - Throws: `ConsoleError.configuration` if the name is taken or not allowed; `.database`.
  package func addAccount(name: String, role: Role) async throws -> Credentials {
    let name = try Self.accountName(name)
    let (shown, stored) = try await newCredentials(name: name, role: role)
    do {
      try await composition.accounts.add(
        name: name, role: role, credentials: stored, by: AuditEvent.commandLine)
    } catch AccountStore.Refusal.nameTaken {
      throw ConsoleError.configuration("There is an account \(name): choose another --name.")
    } catch AccountStore.Refusal.looksAlike(let other) {
      throw ConsoleError.configuration(
        "The name looks like that of the account \(other): choose another --name.")
    } catch AccountStore.Refusal.tooMany {
      throw ConsoleError.configuration("There are too many accounts: use an existing one.")
    } catch {
      throw ConsoleError(storing: error)
    }
    return shown
  }

  /// The one-time code of a secret at `time`, for an operator without an app at hand; nil if the secret is not valid.
  package static func oneTimeCode(secret: String, at time: Date) -> String? {
    CodeGenerator(typed: secret).map { $0.code(step: CodeGenerator.step(at: time.unixSecond)) }
  }

  /// True if there is an account.
  package var hasAccounts: Bool {
    get async throws { try await !composition.accounts.all().isEmpty }
  }

  /// Passes the lines of the audit log and the hashes of their entries to `body`, oldest first, and verifies them.
  @discardableResult
  package func audit(
    _ body: @Sendable (_ line: String, _ hash: String) throws -> Void = { _, _ in }
  ) async throws -> AuditChain {
    try await openDatabase()
    return try await composition.audit.forEach(atOnce: ConsoleLimit.auditEntriesAtOnce) {
      try body($0.line, $0.hash)
    }
  }
}

extension ConsoleAdministration {
  /// A check of an exported log of this console.
  package func auditChain() -> AuditChain {
    AuditChain(key: composition.audit.key, start: composition.audit.start)
  }

  /// Completes the upgrade of the audit log from a version without a key. To be called once, while
  /// `ConsoleConfiguration.auditStart` is nil, before a console uses the database.
  ///
  /// - Returns: The start of the log, to be stored with the secret.
  package func completeAuditUpgrade() async throws -> AuditStart {
    do { return try await composition.audit.completeUpgrade() } catch {
      throw ConsoleError(storing: error)
    }
  }
}

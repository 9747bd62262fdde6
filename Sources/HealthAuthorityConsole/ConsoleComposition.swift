// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import PostgreSQL
import QuietHTTP
import Secrets
import ServerStorage
import World

/// The composition root: creates the parts of the console and connects them.
struct ConsoleComposition: Sendable {
  let keys: ConsoleKeys
  let audit: AuditLog
  let refusals: RefusedSignIns
  let accounts: AccountStore
  let links: AccountLinks
  private let configuration: ConsoleConfiguration
  let database: ConsoleDatabase
  private let clock: any WallClock
  private let randomness: any Randomness
  private let logger: Logger

  init(
    _ configuration: ConsoleConfiguration, isReadOnly: Bool = false, clock: any WallClock,
    randomness: any Randomness, logger: Logger
  ) throws(ConsoleError) {
    try configuration.check()
    guard let keys = ConsoleKeys(configuration.secret, byteCount: ConsoleLimit.secretBytes) else {
      throw .configuration("secret must have \(ConsoleLimit.secretBytes) bytes.")
    }
    database = try Self.database(configuration, keys, isReadOnly: isReadOnly, logger: logger)
    self.keys = keys
    self.configuration = configuration
    self.clock = clock
    self.randomness = randomness
    self.logger = logger
    audit = AuditLog(
      database: database, key: AuditKey(keys), start: configuration.auditStart, clock: clock,
      fieldBytesMax: ConsoleLimit.auditFieldBytesMax)
    refusals = RefusedSignIns(audit: audit)
    accounts = AccountStore(
      database: database, audit: audit, keys: keys, clock: clock, randomness: randomness)
    links = AccountLinks(
      database: database, audit: audit, keys: keys, days: configuration.linkDays, clock: clock,
      randomness: randomness)
  }

  /// Opens the database. That in PostgreSQL is reached by the first transaction.
  private static func database(
    _ configuration: ConsoleConfiguration, _ keys: ConsoleKeys, isReadOnly: Bool, logger: Logger
  ) throws(ConsoleError) -> ConsoleDatabase {
    if var address = configuration.databaseAddress {
      if isReadOnly { address.mayBeEmpty = false }
      return ConsoleDatabase(address, keys: keys, logger: logger)
    }
    do throws(ServerDatabaseError) {
      let file = configuration.databaseFile
      return isReadOnly
        ? try ConsoleDatabase(reading: file, keys: keys)
        : try ConsoleDatabase(file: file, keys: keys)
    } catch {
      throw ConsoleError(error)
    }
  }

  /// Reaches the database in PostgreSQL.
  ///
  /// - Throws: `ConsoleError`
  func openDatabase() async throws {
    do { try await database.makeReady() } catch { throw ConsoleError(storing: error) }
  }

  /// The numbers of the issued codes.
  ///
  /// - Parameter serviceClock: The clock of the servers that are administered.
  func issuedCodes(_ serviceClock: any WallClock) -> IssuedCodeStore {
    IssuedCodeStore(database: database, clock: serviceClock)
  }

  /// The checks of passwords.
  func passwordChecks() -> PasswordChecks {
    PasswordChecks(
      countMax: ConsoleLimit.passwordChecksMax, waitingMax: ConsoleLimit.waitingSignInsMax,
      costLog: configuration.scryptCostLog, randomness: randomness)
  }

  /// The router with all pages.
  ///
  /// - Parameter serviceClock: The clock of the servers that are administered.
  /// - Throws: If a template is not valid (a programming error).
  func router(
    _ authority: any AdministeredAuthority, serviceClock: any WallClock,
    metrics: RequestMetrics
  ) throws -> Router<QuietContext> {
    let router = Router.quiet(
      refusals: .plain, trustedProxies: configuration.trustedProxies, randomness: randomness,
      metrics: metrics)
    // Before the check of the host, because probes name the machine.
    HealthRoutes { [database] in await database.failingParts().map(\.rawValue) }.add(to: router)
    let sessions = SessionStore(
      database: database, audit: audit, keys: keys, clock: clock, randomness: randomness)
    let pages = PageRouter(
      sessions: sessions, renderer: try PageRenderer(), origin: configuration.origin,
      zone: configuration.timeZone)
    router.add(middleware: HostCheck(pages: pages, origin: configuration.origin))
    router.add(middleware: UnknownPages(pages: pages))
    let changes = changePages(pages, authority, serviceClock)
    changes.add(to: router)
    addAccounts(to: router, pages, changes)
    addAdministration(to: router, pages, authority, changes, serviceClock)
    return router
  }

  private func changePages(
    _ pages: PageRouter, _ authority: any AdministeredAuthority, _ serviceClock: any WallClock
  ) -> ChangePages {
    let execution = ChangeExecution(
      authority: authority, actions: AuditedActions(audit: audit), accounts: accounts,
      links: links, clock: serviceClock)
    return ChangePages(
      pages: pages,
      requests: ProposalStore(
        database: database, audit: audit, clock: clock, kind: .administration),
      accounts: accounts,
      effects: ChangeEffects(authority: authority, accounts: accounts, clock: serviceClock),
      execution: execution)
  }

  private func addAccounts(
    to router: Router<QuietContext>, _ pages: PageRouter, _ changes: ChangePages
  ) {
    let passwords = passwordChecks()
    let passkeys = PasskeyStore(database: database, audit: audit, clock: clock)
    let challenges = PasskeyChallenges(
      keys: keys, seconds: ConsoleLimit.challengeSeconds, randomness: randomness)
    SignInPages(
      pages: pages, signIn: SignIn(accounts: accounts, passwords: passwords),
      sessions: pages.sessions, passkeys: passkeys, challenges: challenges,
      refusals: refusals, clock: clock, failures: makeFailureBudget(.signIns)
    ).add(to: router)
    AccountPages(
      pages: pages, accounts: accounts, links: links, passwords: passwords,
      failures: makeFailureBudget(.links), changes: changes
    ).add(to: router)
    AccountImportPages(pages: pages, changes: changes).add(to: router)
    OwnAccountPages(pages: pages, passkeys: passkeys, challenges: challenges).add(to: router)
    AuditPages(pages: pages, audit: audit).add(to: router)
  }

  private func addAdministration(
    to router: Router<QuietContext>, _ pages: PageRouter, _ authority: any AdministeredAuthority,
    _ changes: ChangePages, _ serviceClock: any WallClock
  ) {
    let actions = AuditedActions(audit: audit)
    let issuedCodes = issuedCodes(serviceClock)
    let smsLists = SMSLists(
      authority: authority, issuedCodes: issuedCodes, clock: serviceClock, logger: logger)
    CodePages(
      pages: pages, authority: authority, actions: actions, issuedCodes: issuedCodes,
      link: configuration.appAddress.map { CodeLink(app: $0) }, sendsSMS: configuration.sendsSMS,
      clock: serviceClock, randomness: randomness
    ).add(to: router)
    CodeRulePages(pages: pages, authority: authority, changes: changes).add(to: router)
    BatchPages(
      pages: pages, authority: authority, actions: actions,
      issuedCodes: issuedCodes, smsLists: smsLists,
      sendsSMS: configuration.sendsSMS, clock: serviceClock, randomness: randomness
    ).add(to: router)
    IssuedCodePages(
      pages: pages, authority: authority, issuedCodes: issuedCodes, clock: serviceClock
    ).add(to: router)
    ObservationPages(pages: pages, authority: authority).add(to: router)
    let configuration = ConfigurationPages(
      pages: pages, authority: authority,
      proposals: ProposalStore(database: database, audit: audit, clock: clock), accounts: accounts)
    configuration.add(to: router)
    HomePage(
      pages: pages, authority: authority, changes: changes, configuration: configuration,
      issuedCodes: issuedCodes, smsLists: smsLists, clock: serviceClock
    ).add(to: router)
    PhonePages(pages: pages, authority: authority, changes: changes, clock: serviceClock)
      .add(to: router)
    KeyPages(pages: pages, authority: authority, changes: changes).add(to: router)
  }

  /// The numbers of the budgets in shared counters, which are never changed.
  private enum Budget: Int16 {
    case signIns = 1
    case links = 2
  }

  private func makeFailureBudget(_ budget: Budget) -> FailureBudget {
    var limits = FailureLimits(
      perAddress: ConsoleLimit.addressFailuresMax, windowSeconds: ConsoleLimit.signInWindowSeconds)
    limits.waitingExcessMax = ConsoleLimit.waitingExcessSignInsMax
    return FailureBudget(
      limits, clock: clock, randomness: randomness,
      shared: database.sharedCounters(clock).map {
        SharedBudget($0, keys: keys.budgetKeys, number: budget.rawValue)
      })
  }
}

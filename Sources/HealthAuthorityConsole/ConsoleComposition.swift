import Foundation
import Hummingbird
import QuietHTTP
import World

/// The composition root: creates the parts of the console and connects them.
struct ConsoleComposition: Sendable {
  let keys: ConsoleKeys
  let audit: AuditLog
  let accounts: AccountStore
  let links: AccountLinks
  private let configuration: ConsoleConfiguration
  private let database: ConsoleDatabase
  private let clock: any WallClock
  private let randomness: any Randomness

  init(
    _ configuration: ConsoleConfiguration, clock: any WallClock, randomness: any Randomness
  ) throws(ConsoleError) {
    try configuration.check()
    guard let keys = ConsoleKeys(configuration.secret, byteCount: ConsoleLimit.secretBytes) else {
      throw .configuration("secret must have \(ConsoleLimit.secretBytes) bytes.")
    }
    do throws(ConsoleDatabase.Failure) {
      database = try ConsoleDatabase(file: configuration.databaseFile, keys: keys)
    } catch {
      throw ConsoleError(error)
    }
    self.keys = keys
    self.configuration = configuration
    self.clock = clock
    self.randomness = randomness
    audit = AuditLog(
      database: database, clock: clock, fieldBytesMax: ConsoleLimit.auditFieldBytesMax)
    accounts = AccountStore(
      database: database, audit: audit, keys: keys, clock: clock, randomness: randomness)
    links = AccountLinks(
      database: database, audit: audit, keys: keys, clock: clock, randomness: randomness)
  }

  /// The checks of passwords.
  func passwordChecks() -> PasswordChecks {
    PasswordChecks(
      countMax: ConsoleLimit.passwordChecksMax, costLog: configuration.scryptCostLog,
      randomness: randomness)
  }

  /// The router with all pages.
  ///
  /// - Parameter serviceClock: The clock of the servers that are administered.
  /// - Throws: If a template is not valid (a programming error).
  func router(
    _ authority: any AdministeredAuthority, serviceClock: any WallClock
  ) throws -> Router<QuietContext> {
    let router = Router.quiet(
      refusals: .plain, trustedProxies: configuration.trustedProxies, randomness: randomness)
    let sessions = SessionStore(
      database: database, audit: audit, keys: keys, clock: clock, randomness: randomness)
    let pages = PageRouter(
      sessions: sessions, renderer: try PageRenderer(), origin: configuration.origin)
    router.add(middleware: UnknownPages(pages: pages))
    addAccounts(to: router, pages)
    addAdministration(to: router, pages, authority, serviceClock)
    return router
  }

  private func addAccounts(to router: Router<QuietContext>, _ pages: PageRouter) {
    let passwords = passwordChecks()
    let passkeys = PasskeyStore(database: database, audit: audit, clock: clock)
    let challenges = PasskeyChallenges(
      keys: keys, seconds: ConsoleLimit.challengeSeconds,
      usedMax: ConsoleLimit.usedChallengesMax, randomness: randomness)
    SignInPages(
      pages: pages, signIn: SignIn(accounts: accounts, passwords: passwords),
      sessions: pages.sessions, passkeys: passkeys, challenges: challenges, audit: audit,
      failures: failures
    ).add(to: router)
    AccountPages(
      pages: pages, accounts: accounts, links: links, passwords: passwords, failures: failures
    ).add(to: router)
    OwnAccountPages(pages: pages, passkeys: passkeys, challenges: challenges).add(to: router)
    AuditPages(pages: pages, audit: audit).add(to: router)
  }

  private func addAdministration(
    to router: Router<QuietContext>, _ pages: PageRouter, _ authority: any AdministeredAuthority,
    _ serviceClock: any WallClock
  ) {
    let actions = AuditedActions(audit: audit)
    CodePages(
      pages: pages, authority: authority, actions: actions,
      link: configuration.appAddress.map { CodeLink(app: $0) }, sendsSMS: configuration.sendsSMS,
      clock: serviceClock, randomness: randomness
    ).add(to: router)
    BatchPages(
      pages: pages, authority: authority, actions: actions, clock: serviceClock,
      randomness: randomness
    ).add(to: router)
    ObservationPages(pages: pages, authority: authority).add(to: router)
    ConfigurationPages(
      pages: pages, authority: authority,
      proposals: ProposalStore(database: database, audit: audit, clock: clock), accounts: accounts
    ).add(to: router)
    PhonePages(pages: pages, authority: authority, actions: actions, clock: serviceClock)
      .add(to: router)
    KeyPages(pages: pages, authority: authority, actions: actions).add(to: router)
  }

  private var failures: FailureBudget {
    FailureBudget(
      FailureLimits(
        perAddress: ConsoleLimit.addressFailuresMax, windowSeconds: ConsoleLimit.signInWindowSeconds
      ),
      clock: clock, randomness: randomness)
  }
}

/// Responds to requests for unknown paths with a page.
private struct UnknownPages: RouterMiddleware {
  typealias Context = QuietContext

  let pages: PageRouter

  func handle(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as HTTPError where [404, 405].contains(error.status.code) {
      return await pages.notFound(request, context)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Logging
import QuietHTTP
import ServerMetrics
import ServerStorage
import UploadToken
import VerificationAPI
import World

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
  let requests: RequestMetrics
  let attempts: AttemptCounter
  private let sms: SMSConfiguration?
  private let refusals: RefusalLog
  /// Counts wrong codes. Both contracts accept the same codes, so they share it.
  private let guesses: FailureBudget
  private let weights: GuessWeights
  /// The counters of all processes; nil for budgets of this process.
  private let counters: (any SharedCounters)?
  private let rules: RulesInForce

  init(
    configuration: VerificationServerConfiguration, storage: any CodeStorage, keys: CodeKeys,
    apiTokens: APITokens, signing: SigningKeyring, clock: any WallClock,
    randomness: any Randomness, logger: Logger
  ) {
    self.configuration = configuration
    self.storage = storage
    self.keys = keys
    self.apiTokens = apiTokens
    self.signing = signing
    self.clock = clock
    self.randomness = randomness
    self.logger = logger
    var sms = configuration.sms
    sms?.service = ServiceFailureLog(
      name: "SMS gateway",
      advice: "its codes are withdrawn; check sms in verification/settings.json",
      clock: clock, logger: logger)
    attempts = AttemptCounter(storage: storage, clock: clock, randomness: randomness)
    sms?.attempts = attempts
    self.sms = sms
    refusals = RefusalLog(
      of: "requests", causes: CodeRefusalCause.names, clock: clock, randomness: randomness,
      logger: logger)
    requests = RequestMetrics(clock: clock, randomness: randomness)
    counters = storage.sharedCounters(clock)
    guesses = FailureBudget(
      configuration.attempts.ofCodes, clock: clock, randomness: randomness,
      shared: Budget.codes.shared(counters, keys),
      alarm: GuessingAlarm(logger: logger, limits: configuration.attempts).report)
    rules = RulesInForce(configuration, clock: clock, logger: logger)
    weights = GuessWeights(
      storage: storage, risk: GuessingRisk(configuration.attempts), rules: rules, clock: clock)
  }

  func router() throws -> Router<QuietContext> {
    let router = Router.quiet(
      refusals: .callable, allowedOrigin: configuration.allowedOrigin,
      trustedProxies: configuration.trustedProxies, randomness: randomness, metrics: requests)
    if let isCurrent = configuration.isCurrent {
      router.add(middleware: CurrentStateMiddleware(isCurrent: isCurrent))
    }
    addProteGOSafeRoutes(to: router)
    try addDeviceRoutes(to: router)
    addAdminRoutes(to: router)
    if let sms, let links = sms.links {
      SMSLinkRoutes(targets: links, region: sms.region).add(to: router)
    }
    let (signing, clock, time) = (signing, clock, TrustedTime(clock, storage))
    HealthRoutes { [isCurrent = configuration.isCurrent] in
      var failing = await time.failingParts()
      if signing.keys().published(at: clock.now).keys.isEmpty { failing.append(.secrets) }
      if signing.isFailing { failing.append(.signing) }
      if !(isCurrent?() ?? true) { failing.append(.sharedState) }
      return failing.map(\.rawValue)
    }.add(to: router)
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

  /// The metrics of the routes and of the codes.
  func metrics(jobs: BackgroundJobs, faults: ServerHealth) -> VerificationMetrics {
    VerificationMetrics(
      jobs: jobs, requests: requests, refusals: refusals, faults: faults, guesses: guesses,
      sms: sms?.service, storage: storage, clock: clock)
  }

  // Separate budgets: wrong codes entered at a clinic must not prevent its staff from issuing codes.
  private func makeFailureBudget(_ budget: Budget) -> FailureBudget {
    FailureBudget(
      configuration.attempts.ofCredentials, clock: clock, randomness: randomness,
      shared: budget.shared(counters, keys))
  }

  /// Each user report costs an SMS, so one above the limit is not processed.
  private func makeReportBudget() -> FailureBudget {
    var limits = configuration.attempts.ofCredentials
    limits.verifiesExcess = false
    return FailureBudget(
      limits, clock: clock, randomness: randomness, shared: Budget.reports.shared(counters, keys))
  }

  private func makeIssueQuota() -> IssueQuota {
    IssueQuota(
      configuration.attempts, clock: clock, randomness: randomness, logger: logger,
      shared: Budget.issues.shared(counters, keys))
  }

  private var codeIssuer: CodeIssuer {
    CodeIssuer(
      storage: storage, keys: keys, rules: rules, risk: GuessingRisk(configuration.attempts),
      pressure: { [guesses] in await guesses.currentPressure() }, clock: clock,
      randomness: randomness)
  }

  /// - Parameter failures: The budget of wrong keys; nil for one of its own.
  private func gate(
    _ kinds: Set<APIKeyKind>, from netmasks: Netmasks, failures: FailureBudget? = nil
  ) -> APIKeyGate {
    APIKeyGate(
      kinds: kinds,
      apiKeys: APIKeys(storage: storage, keys: keys, clock: clock, randomness: randomness),
      netmasks: netmasks, failures: failures ?? makeFailureBudget(.deviceKeys),
      isInMaintenance: configuration.policy.isInMaintenance, refusals: refusals)
  }

  private func addProteGOSafeRoutes(to router: Router<QuietContext>) {
    let gate = APITokenGate(
      apiTokens: apiTokens, netmasks: configuration.operatorNetmasks,
      failures: makeFailureBudget(.apiTokens), refusals: refusals)
    GenerateCodeRoute(codeIssuer: codeIssuer, gate: gate).add(to: router)
    GenerateCodesBatchRoute(codeIssuer: codeIssuer, gate: gate).add(to: router)
    AccessTokenRoute(
      redeemer: CodeRedeemer(
        storage: storage, keys: keys, signing: signing,
        tokenLifetime: configuration.tokenLifetime, clock: clock, randomness: randomness),
      netmasks: configuration.applicationNetmasks, failures: guesses, weights: weights,
      refusals: refusals, attempts: attempts
    ).add(to: router)
  }

  private func addDeviceRoutes(to router: Router<QuietContext>) throws {
    let device = gate([.device], from: configuration.applicationNetmasks)
    let policy = configuration.policy
    VerifyRoute(
      verifier: CodeVerifier(
        storage: storage, keys: keys, signing: signing,
        tokenLifetime: policy.verificationTokenLifetime, clock: clock, randomness: randomness),
      gate: device, failures: guesses, weights: weights, refusals: refusals,
      attempts: attempts
    ).add(to: router)
    CertificateRoute(
      exchange: CertificateExchange(
        storage: storage, keys: keys, signing: signing,
        certificateLifetime: policy.certificateLifetime, clock: clock),
      gate: device, failures: makeFailureBudget(.certificates), refusals: refusals,
      attempts: attempts,
      randomness: randomness
    ).add(to: router)
    // Of the API and the page together, so that neither is a way around the limits of the other.
    let reports = UserReports(
      codeIssuer: codeIssuer, sms: sms, budget: makeReportBudget(), quota: makeIssueQuota(),
      attempts: attempts, sendTimes: ResponseTimes(randomness: randomness))
    UserReportRoute(reports: reports, gate: device).add(to: router)
    if policy.offersReportPage { try ReportPage(reports: reports).add(to: router) }
  }

  private func addAdminRoutes(to router: Router<QuietContext>) {
    // One budget, so that a wrong key cannot be tried at one route after the other.
    let failures = makeFailureBudget(.operatorKeys)
    let admin = gate([.admin], from: configuration.operatorNetmasks, failures: failures)
    let handler = IssueRequestHandler(
      codeIssuer: codeIssuer, sms: sms, quota: makeIssueQuota())
    IssueRoute(
      handler: handler,
      gate: gate([.admin, .canary], from: configuration.operatorNetmasks, failures: failures)
    ).add(to: router)
    BatchIssueRoute(handler: handler, gate: admin).add(to: router)
    CodeStatusRoutes(storage: storage, gate: admin, clock: clock, randomness: randomness)
      .add(to: router)
    FreePhoneRoute(
      storage: storage, keys: keys, isOffered: configuration.policy.allowsUserReport, gate: admin,
      clock: clock, randomness: randomness, times: ResponseTimes(randomness: randomness)
    ).add(to: router)
    StatisticsRoutes(
      storage: storage, attempts: attempts,
      gate: gate([.stats, .admin], from: configuration.operatorNetmasks, failures: failures),
      clock: clock, randomness: randomness
    ).add(to: router)
  }

  /// The cache lifetime of the key pages, in seconds.
  private static let keysMaxAgeSeconds = 300
}

/// The numbers of the budgets in shared counters, which are never changed.
private enum Budget: Int16 {
  case codes = 1
  case apiTokens = 2
  case deviceKeys = 3
  case operatorKeys = 4
  case certificates = 5
  case reports = 6
  case issues = 7

  /// The budget in `counters`; nil without them.
  func shared(_ counters: (any SharedCounters)?, _ keys: CodeKeys) -> SharedBudget? {
    counters.map { SharedBudget($0, keys: keys.budgetKeys, number: rawValue) }
  }
}

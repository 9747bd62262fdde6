import Hummingbird
import QuietHTTP
import UploadToken
import VerificationAPI
import World

/// The wiring of the server: which room gets what. It holds no rule.
struct VerificationRooms {
  let configuration: VerificationServerConfiguration
  let storage: any CodeStorage
  let keys: CodeKeys
  let apiTokens: ApiTokens
  let signing: SigningKeyring
  let clock: any WallClock
  let randomness: any Randomness

  /// A router with every route of both contracts, and the pages.
  func router() throws -> Router<QuietContext> {
    let router = Router.quiet(
      refusals: .callable, allowedOrigin: configuration.allowedOrigin,
      trustedProxies: configuration.trustedProxies, randomness: randomness)
    addSeedContract(to: router)
    addDeviceRoutes(to: router)
    addAdminRoutes(to: router)
    let (signing, clock) = (signing, clock)
    router.page(RouterPath(VerificationRoute.keys)) {
      try QuietPage(signing.keys().published(at: clock.now), maxAgeSeconds: Self.keysMaxAgeSeconds)
    }
    router.page(RouterPath(VerificationRoute.keyList)) {
      try QuietPage(
        signing.keys().published(at: clock.now).keys, maxAgeSeconds: Self.keysMaxAgeSeconds)
    }
    try router.describe(Self.description)
    return router
  }

  // Each use counts for itself: wrong codes from a clinic must not keep its officials from issuing.
  private var attempts: Attempts {
    Attempts(configuration.attempts, clock: clock, randomness: randomness)
  }

  private var issuance: CodeIssuance {
    CodeIssuance(
      storage: storage, keys: keys, lifetime: configuration.codeLifetime,
      policy: configuration.policy, clock: clock, randomness: randomness)
  }

  private func caller(_ kind: ApiKeyKind, from netmasks: Netmasks) -> Caller {
    Caller(
      kind: kind, check: ApiKeyCheck(storage: storage, keys: keys), netmasks: netmasks,
      attempts: attempts, isInMaintenance: configuration.policy.isInMaintenance)
  }

  private func addSeedContract(to router: Router<QuietContext>) {
    let operators = Operators(
      apiTokens: apiTokens, netmasks: configuration.operatorNetmasks, attempts: attempts)
    GenerateCodeRoute(issuance: issuance, operators: operators).add(to: router)
    GenerateCodesBatchRoute(issuance: issuance, operators: operators).add(to: router)
    AccessTokenRoute(
      redemption: CodeRedemption(
        storage: storage, keys: keys, signing: signing,
        tokenLifetime: configuration.tokenLifetime, clock: clock, randomness: randomness),
      netmasks: configuration.applicationNetmasks, attempts: attempts
    ).add(to: router)
  }

  private func addDeviceRoutes(to router: Router<QuietContext>) {
    let device = caller(.device, from: configuration.applicationNetmasks)
    let policy = configuration.policy
    VerifyRoute(
      verification: CodeVerification(
        storage: storage, keys: keys, signing: signing,
        tokenLifetime: policy.verificationTokenLifetime, clock: clock, randomness: randomness),
      caller: device, attempts: attempts
    ).add(to: router)
    CertificateRoute(
      exchange: CertificateExchange(
        storage: storage, keys: keys, signing: signing,
        certificateLifetime: policy.certificateLifetime, clock: clock),
      caller: device, attempts: attempts, randomness: randomness
    ).add(to: router)
    UserReportRoute(
      issuance: issuance, sms: configuration.sms, caller: device, attempts: attempts,
      sendTimes: AnswerTimes(randomness: randomness)
    ).add(to: router)
  }

  private func addAdminRoutes(to router: Router<QuietContext>) {
    let admin = caller(.admin, from: configuration.operatorNetmasks)
    let desk = IssueDesk(issuance: issuance, sms: configuration.sms, attempts: attempts)
    IssueRoute(desk: desk, caller: admin).add(to: router)
    BatchIssueRoute(desk: desk, caller: admin).add(to: router)
    CodeFateRoutes(storage: storage, caller: admin, clock: clock, randomness: randomness)
      .add(to: router)
  }

  /// How long a reader may keep the page of keys, in seconds.
  private static let keysMaxAgeSeconds = 300
}

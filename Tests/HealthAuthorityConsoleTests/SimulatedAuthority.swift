// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import RiskRules
import Synchronization
import World

@testable import HealthAuthorityConsole

/// An authority in memory. It records what the console asks for.
final class SimulatedAuthority: AdministeredAuthority {
  struct State: Sendable {
    var codes: [UUID: CodeState] = [:]
    var requests: [CodeRequest] = []
    var freedPhones: [String] = []
    var days: [FunnelDay] = []
    var issuers: [IssuerCodes] = []
    var exports: [ExportFacts] = []
    var configuration = RemoteConfiguration(version: 3)
    var attempts: [AppAttempts] = []
    /// The number of phones in the recording; nil for none.
    var recordedPhones: Int?
    var pause: DeviceConfiguration.Pause?
    var withdrawn: [KeyFileHash] = []
    var rotated: [SigningServer] = []
    var apiKeys: [APIKeyFacts] = []
    /// The number of requests that counted the live codes of the API keys.
    var liveCountCount = 0
    var authorities: [AuthorityFacts] = []
    var apps: [AppFacts] = []
    /// The failure of requests about authorities and apps.
    var registryFailure: AuthorityFailure?
    /// The failure of every request.
    var failure: AuthorityFailure?
    /// The failure of a rotation, a withdrawal and a pause.
    var changeFailure: AuthorityFailure?
    /// True while a rotation does not end.
    var isHeld = false
    /// True while the counts of the days are not answered.
    var isFunnelHeld = false
    /// The failure of a new remote configuration.
    var replaceFailure: AuthorityFailure?
    /// True if a new remote configuration is stored before its failure.
    var storesBeforeFailure = false
    var codesPerDay = 1_000
    var rules = CodeRules.Values(
      pinSeconds: 1_800, shortCodeSeconds: 900, longCodeSeconds: 86_400, shortCodeDigits: 8,
      requiresDate: false)
    var smsTemplates: [String] = []
    var signingKeysEnd: Int64?
    /// The text of the next codes; nil for one with a number.
    var codeText: String?
    /// True while a single code is not issued.
    var isIssueHeld = false
    /// The failures of codes by SMS, by the last digit of the phone number less one.
    var issueFailures: [Int: AuthorityFailure] = [:]
    /// The number of requests by function.
    var calls: [String: Int] = [:]
  }

  private let mutex = Mutex(State())

  var state: State {
    get { mutex.withLock { $0 } }
    set { mutex.withLock { $0 = newValue } }
  }

  private func with<Value: Sendable>(
    _ caller: String = #function,
    _ work: (inout State) throws(AuthorityFailure) -> sending Value
  ) throws(AuthorityFailure) -> Value {
    try mutex.withLock { state throws(AuthorityFailure) in
      state.calls[caller, default: 0] += 1
      if let failure = state.failure { throw failure }
      return try work(&state)
    }
  }

  func issue(_ request: CodeRequest) async throws(AuthorityFailure) -> IssuedCode {
    while state.isIssueHeld {
      // A cancelled task waits too, like a server that is at work already.
      try? await Task.sleep(for: .milliseconds(5))
    }
    return try with { state throws(AuthorityFailure) in
      if let place = request.phone?.last?.wholeNumberValue,
        let failure = state.issueFailures[place - 1]
      {
        throw failure
      }
      guard state.codes[request.uuid] == nil else { throw AuthorityFailure.taken }
      let end = RunningConsole.start.addingTimeInterval(1_800)
      state.requests.append(request)
      state.codes[request.uuid] = CodeState(isUsed: false, expiresAt: end)
      return IssuedCode(
        uuid: request.uuid, code: state.codeText ?? "AB\(100 + state.requests.count)C",
        expiresAt: end)
    }
  }

  func issue(_ requests: [CodeRequest]) async -> [Result<IssuedCode, AuthorityFailure>] {
    var results: [Result<IssuedCode, AuthorityFailure>] = []
    for request in requests {
      do throws(AuthorityFailure) { results.append(.success(try await issue(request))) } catch {
        results.append(.failure(error))
      }
    }
    return results
  }

  func state(ofCode uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try with { state throws(AuthorityFailure) in
      guard let code = state.codes[uuid] else { throw AuthorityFailure.notFound }
      return code
    }
  }

  func codeRules() async throws(AuthorityFailure) -> CodeRules {
    try with { state throws(AuthorityFailure) in
      CodeRules(
        codesPerDay: state.codesPerDay, values: state.rules,
        limits: CodeRules.Limits(
          pinSeconds: 60...7_200, shortCodeSeconds: 60...3_600, longCodeSeconds: 60...86_400,
          shortCodeDigits: 6...11),
        smsTemplates: state.smsTemplates)
    }
  }

  func set(_ values: CodeRules.Values) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      if let failure = state.changeFailure { throw failure }
      state.rules = values
    }
  }

  func expire(code uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try with { state throws(AuthorityFailure) in
      guard state.codes[uuid] != nil else { throw AuthorityFailure.notFound }
      let code = CodeState(isUsed: false, expiresAt: RunningConsole.start.addingTimeInterval(-1))
      state.codes[uuid] = code
      return code
    }
  }

  func free(phone: String) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in state.freedPhones.append(phone) }
  }

  func funnel() async throws(AuthorityFailure) -> [FunnelDay] {
    let days = try with { state throws(AuthorityFailure) in state.days }
    while state.isFunnelHeld, !Task.isCancelled {
      // A cancelled task leaves the loop.
      try? await Task.sleep(for: .milliseconds(5))
    }
    return days
  }

  func codesByIssuer() async throws(AuthorityFailure) -> [IssuerCodes] {
    try with { state throws(AuthorityFailure) in state.issuers }
  }

  func attempts() async throws(AuthorityFailure) -> [AppAttempts] {
    try with { state throws(AuthorityFailure) in state.attempts }
  }

  func exports() async throws(AuthorityFailure) -> [ExportFacts] {
    try with { state throws(AuthorityFailure) in state.exports }
  }

  func remoteConfiguration() async throws(AuthorityFailure) -> RemoteConfiguration {
    try with { state throws(AuthorityFailure) in state.configuration }
  }

  func replace(
    _ configuration: RemoteConfiguration, ifInForce version: Int
  ) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      guard state.configuration.version == version else { throw AuthorityFailure.changed }
      guard let failure = state.replaceFailure else {
        state.configuration = configuration
        return
      }
      if state.storesBeforeFailure { state.configuration = configuration }
      throw failure
    }
  }

  func effect(
    of new: RemoteConfiguration, replacing present: RemoteConfiguration
  ) async throws(AuthorityFailure) -> ConfigurationEffect {
    func levels(_ configuration: RemoteConfiguration) -> ConfigurationEffect.Levels {
      let high = configuration.riskLevelConfiguration.maxLowRiskScore
      return ConfigurationEffect.Levels(none: 1, low: 2, medium: 3, high: high)
    }
    let comparison = ConfigurationEffect.Comparison(
      before: levels(present), after: levels(new), changed: 4)
    let version = ConfigurationEffect.Version(
      contacts: comparison, days: comparison, notices: comparison)
    func phones(_ count: Int) -> ConfigurationEffect.Phones {
      ConfigurationEffect.Phones(count: count, version1: version, version2: version)
    }
    return try with { state throws(AuthorityFailure) in
      ConfigurationEffect(
        simulated: phones(1_600), recorded: state.recordedPhones.map(phones))
    }
  }

  func instructions() async throws(AuthorityFailure) -> PhoneInstructions {
    try with { state throws(AuthorityFailure) in
      PhoneInstructions(
        version: 1, expires: RunningConsole.start.unixSecond, pause: state.pause,
        withdrawn: state.withdrawn)
    }
  }

  func pause(until: Date?) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      if let failure = state.changeFailure { throw failure }
      state.pause = DeviceConfiguration.Pause(until: until?.unixSecond)
    }
  }

  func resume() async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in state.pause = nil }
  }

  func copies(
    ofEach files: Set<KeyFileHash>
  ) async throws(AuthorityFailure) -> [KeyFileHash: [KeyFileCopy]] {
    try with { state throws(AuthorityFailure) in
      let exports = state.exports
      return Dictionary(files.map { ($0, Self.copies(of: $0, in: exports)) }) { $1 }
    }
  }

  /// Files of the same name are copies.
  private static func copies(of file: KeyFileHash, in exports: [ExportFacts]) -> [KeyFileCopy] {
    let names = Set(exports.flatMap(\.files).filter { $0.hash == file }.map(\.name))
    return exports.flatMap { export in
      export.files.filter { names.contains($0.name) }.map {
        KeyFileCopy(
          root: export.root, region: export.region, name: $0.name, keyCount: $0.keyCount,
          hash: $0.hash)
      }
    }
  }

  func withdraw(_ files: [KeyFileHash]) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      if let failure = state.changeFailure { throw failure }
      state.withdrawn += files.filter { !state.withdrawn.contains($0) }
    }
  }

  func restore(_ files: [KeyFileHash]) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      state.withdrawn.removeAll { files.contains($0) }
    }
  }

  func signingKeys(of server: SigningServer) async throws(AuthorityFailure) -> [SigningKeyFacts] {
    try with { state throws(AuthorityFailure) in
      [
        SigningKeyFacts(
          id: server.rawValue, version: "v1", publicKeyPEM: "", validFrom: nil,
          validThru: state.signingKeysEnd)
      ]
    }
  }

  func rotateSigningKey(of server: SigningServer) async throws(AuthorityFailure) {
    while state.isHeld {
      // A cancelled task waits too, like a server that is at work already.
      try? await Task.sleep(for: .milliseconds(5))
    }
    try with { state throws(AuthorityFailure) in
      if let failure = state.changeFailure { throw failure }
      state.rotated.append(server)
    }
  }

  func apiKeys(countsLiveCodes: Bool) async throws(AuthorityFailure) -> [APIKeyFacts] {
    try with { state throws(AuthorityFailure) in
      state.liveCountCount += countsLiveCodes ? 1 : 0
      return state.apiKeys
    }
  }

  func addAPIKey(
    _ kind: APIKeyFacts.Kind, name: String
  ) async throws(AuthorityFailure) -> String {
    try with { state throws(AuthorityFailure) in
      let id = "k\(state.apiKeys.count)"
      state.apiKeys.append(
        APIKeyFacts(
          id: id, kind: kind.rawValue, name: name, createdAt: 0, revokedAt: nil, liveCodes: nil))
      return "\(id).the-text-of-the-key"
    }
  }

  func revokeAPIKey(_ id: String) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      state.apiKeys = state.apiKeys.map {
        $0.id == id
          ? APIKeyFacts(
            id: id, kind: $0.kind, name: $0.name, createdAt: 0, revokedAt: 1, liveCodes: nil) : $0
      }
    }
  }

  func authorities() async throws(AuthorityFailure) -> [AuthorityFacts] {
    try with { state throws(AuthorityFailure) in
      if let failure = state.registryFailure { throw failure }
      return state.authorities
    }
  }

  func add(_ authority: AuthorityFacts, publicKeyPEM: String) async throws(AuthorityFailure) {
    try await check(authority, publicKeyPEM: publicKeyPEM)
    try with { state throws(AuthorityFailure) in
      if let failure = state.changeFailure { throw failure }
      state.authorities.append(authority)
    }
  }

  func check(_ authority: AuthorityFacts, publicKeyPEM: String) async throws(AuthorityFailure) {
    guard publicKeyPEM.contains("BEGIN") else {
      throw AuthorityFailure.refused("The public key must be a P-256 key in PEM.")
    }
  }

  func removeAuthority(_ issuer: String) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      guard state.authorities.contains(where: { $0.issuer == issuer }) else { throw .notFound }
      state.authorities.removeAll { $0.issuer == issuer }
    }
  }

  func withdrawKey(_ keyID: String, of issuer: String) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      guard let index = state.authorities.firstIndex(where: { $0.issuer == issuer }) else {
        throw .notFound
      }
      let authority = state.authorities[index]
      state.authorities[index] = AuthorityFacts(
        issuer: issuer, audience: authority.audience,
        keyIDs: authority.keyIDs.filter { $0 != keyID }, publicKeysPEM: authority.publicKeysPEM)
    }
  }

  func removeApp(_ id: String) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in
      guard state.apps.contains(where: { $0.id == id }) else { throw .notFound }
      state.apps.removeAll { $0.id == id }
    }
  }

  func apps() async throws(AuthorityFailure) -> [AppFacts] {
    try with { state throws(AuthorityFailure) in
      if let failure = state.registryFailure { throw failure }
      return state.apps
    }
  }

  func check(_ app: AppFacts) async throws(AuthorityFailure) {
    guard !app.regions.isEmpty else { throw AuthorityFailure.refused("An app needs a region.") }
  }

  func add(_ app: AppFacts) async throws(AuthorityFailure) {
    try with { state throws(AuthorityFailure) in state.apps.append(app) }
  }
}

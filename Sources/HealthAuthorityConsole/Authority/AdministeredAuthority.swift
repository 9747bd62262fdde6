// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI

/// The health authority that the console administers: its servers, wherever they run.
///
/// The console does not depend on the servers. The program passes an implementation, which may throw
/// `AuthorityFailure.notOffered`.
package protocol AdministeredAuthority: Sendable {
  // Codes.
  /// Issues a code. A request with the UUID of an earlier one fails with `.taken`.
  func issue(_ request: CodeRequest) async throws(AuthorityFailure) -> IssuedCode
  /// Issues several codes. The results are in the order of `requests`.
  func issue(_ requests: [CodeRequest]) async -> [Result<IssuedCode, AuthorityFailure>]
  /// The state of a code, without anything about its owner.
  func state(ofCode uuid: UUID) async throws(AuthorityFailure) -> CodeState
  /// The rules of the verification server for codes.
  func codeRules() async throws(AuthorityFailure) -> CodeRules
  /// Changes the rules for codes that are issued from now on.
  func set(_ values: CodeRules.Values) async throws(AuthorityFailure)
  /// Ends a code.
  func expire(code uuid: UUID) async throws(AuthorityFailure) -> CodeState
  /// Allows a phone a new user report, and ends the code that was sent to it. The result does not tell whether
  /// it had reported.
  func free(phone: String) async throws(AuthorityFailure)

  // Observation.
  /// The counts of the days, oldest first.
  func funnel() async throws(AuthorityFailure) -> [FunnelDay]
  /// The numbers of codes of the days that are over, by API key and external issuer, newest day first.
  func codesByIssuer() async throws(AuthorityFailure) -> [IssuerCodes]
  /// The attempts of apps with codes and tokens on the days that are over, newest day first; those of all apps first.
  func attempts() async throws(AuthorityFailure) -> [AppAttempts]
  /// The exports with their files.
  func exports() async throws(AuthorityFailure) -> [ExportFacts]

  // Phones.
  /// The remote configuration in force.
  func remoteConfiguration() async throws(AuthorityFailure) -> RemoteConfiguration
  /// Replaces the remote configuration if that in force has `version`. Phones follow at their next check.
  ///
  /// - Throws: `.changed` if another configuration is in force.
  func replace(
    _ configuration: RemoteConfiguration, ifInForce version: Int
  ) async throws(AuthorityFailure)
  /// The levels that phones would show for simulated and recorded contacts under the configuration `present` and under
  /// `new`.
  func effect(
    of new: RemoteConfiguration, replacing present: RemoteConfiguration
  ) async throws(AuthorityFailure) -> ConfigurationEffect
  /// The instructions that phones follow.
  func instructions() async throws(AuthorityFailure) -> PhoneInstructions
  /// Tells phones to neither check nor upload, until a time or until `resume`.
  func pause(until: Date?) async throws(AuthorityFailure)
  /// Ends a pause.
  func resume() async throws(AuthorityFailure)
  /// For each hash, the key file with it and its copies: the files of all exports that share keys with it, or have its
  /// region and its period. Nothing for a hash without a file.
  func copies(
    ofEach files: Set<KeyFileHash>
  ) async throws(AuthorityFailure) -> [KeyFileHash: [KeyFileCopy]]
  /// Tells phones to ignore key files and to undo their exposures, all at once and under all hashes that they have had.
  func withdraw(_ files: [KeyFileHash]) async throws(AuthorityFailure)
  /// Ends the withdrawal of key files, all at once.
  func restore(_ files: [KeyFileHash]) async throws(AuthorityFailure)

  // Keys.
  /// The signing keys of a server, without their private parts.
  func signingKeys(of server: SigningServer) async throws(AuthorityFailure) -> [SigningKeyFacts]
  /// Adds a signing key and ends the older ones after an overlap.
  func rotateSigningKey(of server: SigningServer) async throws(AuthorityFailure)
  /// The API keys of the verification server.
  ///
  /// - Parameter countsLiveCodes: False to leave the live codes out, whose count reads all of them.
  func apiKeys(countsLiveCodes: Bool) async throws(AuthorityFailure) -> [APIKeyFacts]
  /// Adds an API key and returns its text, which is shown once.
  func addAPIKey(_ kind: APIKeyFacts.Kind, name: String) async throws(AuthorityFailure) -> String
  /// Revokes an API key, and ends the codes that were issued with it and are not redeemed.
  func revokeAPIKey(_ id: String) async throws(AuthorityFailure)
  /// The authorities whose certificates are accepted: those of the settings, then the added ones.
  func authorities() async throws(AuthorityFailure) -> [AuthorityFacts]
  /// Accepts the certificates of an authority, or adds a key to a known one, whose other properties stay.
  ///
  /// - Throws: `.refused` if the authority is known and has another audience, or another key with that id.
  func add(_ authority: AuthorityFacts, publicKeyPEM: String) async throws(AuthorityFailure)
  /// Checks an addition as `add(_:publicKeyPEM:)` does, and changes nothing.
  func check(_ authority: AuthorityFacts, publicKeyPEM: String) async throws(AuthorityFailure)
  /// Refuses the certificates of an authority from now on.
  func removeAuthority(_ issuer: String) async throws(AuthorityFailure)
  /// Withdraws one key of an authority for good.
  func withdrawKey(_ keyID: String, of issuer: String) async throws(AuthorityFailure)
  /// The apps that may upload: those of the settings, then the added ones.
  func apps() async throws(AuthorityFailure) -> [AppFacts]
  /// Allows an app to upload.
  func add(_ app: AppFacts) async throws(AuthorityFailure)
  /// Checks an addition as `add(_:)` does, and changes nothing.
  func check(_ app: AppFacts) async throws(AuthorityFailure)
  /// Refuses the uploads of an app from now on.
  func removeApp(_ id: String) async throws(AuthorityFailure)
}

extension AdministeredAuthority {
  /// The API keys of the verification server, with their live codes.
  package func apiKeys() async throws(AuthorityFailure) -> [APIKeyFacts] {
    try await apiKeys(countsLiveCodes: true)
  }

  /// The key file with a hash and its copies; empty if there is no such file.
  package func copies(of file: KeyFileHash) async throws(AuthorityFailure) -> [KeyFileCopy] {
    try await copies(ofEach: [file])[file] ?? []
  }
}

/// The instructions that phones follow.
package struct PhoneInstructions: Hashable, Sendable {
  /// The version of the device configuration.
  package let version: Int
  /// The end of its validity for phones that do not have it yet, in Unix seconds.
  package let expires: Int64
  package let pause: DeviceConfiguration.Pause?
  package let withdrawn: [KeyFileHash]

  package init(
    version: Int, expires: Int64, pause: DeviceConfiguration.Pause?, withdrawn: [KeyFileHash]
  ) {
    self.version = version
    self.expires = expires
    self.pause = pause
    self.withdrawn = withdrawn
  }
}

/// The effect of a change of the remote configuration on simulated contacts, and on those of a recording. No server
/// knows the contacts and the notices of users.
package struct ConfigurationEffect: Hashable, Sendable {
  /// Counts by risk level.
  package struct Levels: Hashable, Sendable {
    package var none = 0
    package var low = 0
    package var medium = 0
    package var high = 0

    package init(none: Int = 0, low: Int = 0, medium: Int = 0, high: Int = 0) {
      self.none = none
      self.low = low
      self.medium = medium
      self.high = high
    }
  }

  /// The levels before and after the change.
  package struct Comparison: Hashable, Sendable {
    package let before: Levels
    package let after: Levels
    /// The contacts, days or phones whose level the change alters.
    package let changed: Int

    package init(before: Levels, after: Levels, changed: Int) {
      self.before = before
      self.after = after
      self.changed = changed
    }
  }

  /// The comparisons of phones with one version of the interface.
  package struct Version: Hashable, Sendable {
    /// The contacts of all phones.
    package let contacts: Comparison
    /// The days with contacts of all phones.
    package let days: Comparison
    /// The phones, by the level that their notice tells; without a risk there is no notice.
    package let notices: Comparison

    package init(contacts: Comparison, days: Comparison, notices: Comparison) {
      self.contacts = contacts
      self.days = days
      self.notices = notices
    }
  }

  /// The effect on some phones. Phones are configured for one of the two versions of the framework's interface, which
  /// use different parts of a configuration.
  package struct Phones: Hashable, Sendable {
    package let count: Int
    /// Phones with scores: `exposureConfiguration` and `riskLevelConfiguration`.
    package let version1: Version
    /// Phones with exposure windows: `windowRiskConfiguration`.
    package let version2: Version

    package init(count: Int, version1: Version, version2: Version) {
      self.count = count
      self.version1 = version1
      self.version2 = version2
    }
  }

  /// Simulated phones in one week.
  package let simulated: Phones
  /// The phones of a field trial; nil if the authority has set no recording.
  package let recorded: Phones?

  package init(simulated: Phones, recorded: Phones?) {
    self.simulated = simulated
    self.recorded = recorded
  }
}

/// The servers with signing keys.
package enum SigningServer: String, CaseIterable, Codable, Sendable {
  /// Its keys sign tokens and certificates.
  case verification
  /// Its keys sign key files and remote configurations.
  case keys
}

/// A signing key without its private part.
package struct SigningKeyFacts: Hashable, Sendable {
  package let id: String
  package let version: String?
  package let publicKeyPEM: String
  /// The start and the end of its validity, in Unix seconds.
  package let validFrom: Int64?
  package let validThru: Int64?
  /// The PKCS#11 URI of a key on a token; nil for one in a file.
  package let tokenKey: String?

  package init(
    id: String, version: String?, publicKeyPEM: String, validFrom: Int64?, validThru: Int64?,
    tokenKey: String? = nil
  ) {
    self.id = id
    self.version = version
    self.publicKeyPEM = publicKeyPEM
    self.validFrom = validFrom
    self.validThru = validThru
    self.tokenKey = tokenKey
  }
}

/// An API key without its text.
package struct APIKeyFacts: Hashable, Sendable {
  /// The kinds of keys. The raw values are those of `api-key add --type`.
  package enum Kind: String, CaseIterable, Codable, Sendable {
    /// For apps.
    case device
    /// For systems that issue codes.
    case admin
    /// For programs that read the numbers of codes.
    case stats
  }

  package let id: String
  package let kind: String
  package let name: String
  package let createdAt: Int64
  package let revokedAt: Int64?
  /// The codes issued with the key that can still be redeemed, and end with it; nil if the server does not count them.
  package let liveCodes: Int?
  /// The codes issued with the key on the present day in UTC; nil if the server does not count them, or for the key of
  /// the console itself.
  package var issuedToday: Int?

  package init(
    id: String, kind: String, name: String, createdAt: Int64, revokedAt: Int64?, liveCodes: Int?
  ) {
    self.id = id
    self.kind = kind
    self.name = name
    self.createdAt = createdAt
    self.revokedAt = revokedAt
    self.liveCodes = liveCodes
  }
}

/// An authority whose certificates are accepted.
package struct AuthorityFacts: Hashable, Sendable {
  package let issuer: String
  package let audience: String
  package let keyIDs: [String]
  /// The public keys in PEM, by their ids.
  package let publicKeysPEM: [String: String]
  /// The ids of the keys that are refused for good.
  package let withdrawnKeyIDs: [String]
  /// True if the authority is in the settings of the key server, where alone it can be changed.
  package let isInSettings: Bool
  /// True if the key server ignores the authority, because our own verification server has its issuer.
  package let isIgnored: Bool

  package init(
    issuer: String, audience: String, keyIDs: [String], publicKeysPEM: [String: String] = [:],
    withdrawnKeyIDs: [String] = [], isInSettings: Bool = false, isIgnored: Bool = false
  ) {
    self.isIgnored = isIgnored
    self.issuer = issuer
    self.audience = audience
    self.keyIDs = keyIDs
    self.publicKeysPEM = publicKeysPEM
    self.withdrawnKeyIDs = withdrawnKeyIDs
    self.isInSettings = isInSettings
  }
}

/// An app that may upload.
package struct AppFacts: Hashable, Sendable {
  package let id: String
  package let regions: [String]
  package let authorities: [String]
  /// True if the app is in the settings of the key server, where alone it can be changed.
  package let isInSettings: Bool

  package init(id: String, regions: [String], authorities: [String], isInSettings: Bool = false) {
    self.id = id
    self.regions = regions
    self.authorities = authorities
    self.isInSettings = isInSettings
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Settings
import VerificationServer
import World

// MARK: - Phones

extension FolderAuthority {
  func instructions() async throws(AuthorityFailure) -> PhoneInstructions {
    try await withKeys {
      let document = try $0.deviceConfiguration.existing()
      return PhoneInstructions(
        version: document.version, expires: document.expires, pause: document.pause,
        withdrawn: document.withdrawn)
    }
  }

  func pause(until: Date?) async throws(AuthorityFailure) {
    try await publish(.pause(until: until.map(\.unixSecond)))
  }

  func resume() async throws(AuthorityFailure) { try await publish(.resume) }

  func copies(
    ofEach files: Set<KeyFileHash>
  ) async throws(AuthorityFailure) -> [KeyFileHash: [KeyFileCopy]] {
    try await withKeys {
      self.files.copies(
        ofEach: files, among: try $0.keySettings().configuration.exports, in: $0.folder.exports)
    }
  }

  func withdraw(_ files: [KeyFileHash]) async throws(AuthorityFailure) {
    try await set(files, isWithdrawn: true)
  }

  func restore(_ files: [KeyFileHash]) async throws(AuthorityFailure) {
    try await set(files, isWithdrawn: false)
  }

  private func set(
    _ files: [KeyFileHash], isWithdrawn: Bool
  ) async throws(AuthorityFailure) {
    try await withKeys { _ = try await $0.setFiles(files, isWithdrawn: isWithdrawn) }
  }

  private func publish(_ change: DocumentChange) async throws(AuthorityFailure) {
    try await withKeys { _ = try await $0.publish(change) }
  }
}

// MARK: - Keys

extension FolderAuthority {
  func signingKeys(
    of server: SigningServer
  ) async throws(AuthorityFailure) -> [SigningKeyFacts] {
    try await reporting { try SigningKeyStore(setup, of: server).keys() ?? [] }
  }

  func rotateSigningKey(of server: SigningServer) async throws(AuthorityFailure) {
    switch server {
    case .keys: try await withKeys { _ = try await SigningKeyStore($0, of: server).rotate() }
    case .verification:
      try await withVerification { _ = try await SigningKeyStore($0, of: server).rotate() }
    }
  }

  func apiKeys(countsLiveCodes: Bool) async throws(AuthorityFailure) -> [APIKeyFacts] {
    try await withAPIKeys {
      try await $0.list(countsLiveCodes: countsLiveCodes).map { key in
        var facts = APIKeyFacts(
          id: key.id, kind: key.kind.rawValue, name: key.name,
          createdAt: key.createdAt.unixSecond,
          revokedAt: key.revokedAt.map(\.unixSecond), liveCodes: key.liveCodes)
        // The console counts its own codes.
        if key.name != APIKeys.consoleName { facts.issuedToday = key.issuedToday }
        return facts
      }
    }
  }

  func addAPIKey(
    _ kind: APIKeyFacts.Kind, name: String
  ) async throws(AuthorityFailure) -> String {
    let kind: APIKeyKind =
      switch kind {
      case .device: .device
      case .admin: .admin
      case .stats: .stats
      }
    return try await withAPIKeys { try await $0.add(kind: kind, name: name) }
  }

  func revokeAPIKey(_ id: String) async throws(AuthorityFailure) {
    try require(await withVerification { try await $0.revokeAPIKey(id) } != nil)
  }

  private func withAPIKeys<Value>(
    _ work: (APIKeys) async throws -> Value
  ) async throws(AuthorityFailure) -> Value {
    try await withVerification { try await $0.withAPIKeys(work) }
  }

  private func require(_ isKnown: Bool) throws(AuthorityFailure) {
    guard isKnown else { throw .notFound }
  }
}

// MARK: - Authorities and apps

extension FolderAuthority {
  func authorities() async throws(AuthorityFailure) -> [AuthorityFacts] {
    try await withRegister {
      try await $0.registeredAuthorities().map {
        AuthorityFacts(
          issuer: $0.authority.issuer, audience: $0.authority.audience, keyIDs: $0.keyIDs,
          publicKeysPEM: $0.authority.publicKeysPEM, withdrawnKeyIDs: $0.withdrawnKeyIDs,
          isInSettings: $0.isOwn, isIgnored: $0.isIgnored)
      }
    }
  }

  func add(
    _ authority: AuthorityFacts, publicKeyPEM: String
  ) async throws(AuthorityFailure) {
    let change = Self.change(authority, publicKeyPEM)
    try await withRegistry { _ = try await $0.apply(change) }
  }

  func check(
    _ authority: AuthorityFacts, publicKeyPEM: String
  ) async throws(AuthorityFailure) {
    let change = Self.change(authority, publicKeyPEM)
    try await withRegistry { try await $0.check(change) }
  }

  private static func change(
    _ authority: AuthorityFacts, _ publicKeyPEM: String
  ) -> HealthAuthorityChange {
    var change = HealthAuthorityChange(issuer: authority.issuer)
    change.audience = authority.audience.isEmpty ? nil : authority.audience
    change.replacesNothing = true
    change.addedKeysPEM = Dictionary(authority.keyIDs.map { ($0, publicKeyPEM) }) { $1 }
    return change
  }

  func removeAuthority(_ issuer: String) async throws(AuthorityFailure) {
    try require(await withRegistry { try await $0.removeAuthority(issuer) })
  }

  func withdrawKey(_ keyID: String, of issuer: String) async throws(AuthorityFailure) {
    try require(await withRegistry { try await $0.withdrawKey(keyID, of: issuer) })
  }

  func apps() async throws(AuthorityFailure) -> [AppFacts] {
    try await withRegister {
      try await $0.registeredApps().map {
        AppFacts(
          id: $0.app.id, regions: $0.app.regions.sorted(),
          authorities: $0.app.authorities.sorted(), isInSettings: $0.isInSettings)
      }
    }
  }

  func add(_ app: AppFacts) async throws(AuthorityFailure) {
    try await withRegistry {
      _ = try await $0.changeApp(
        app.id, regions: Set(app.regions), authorities: Set(app.authorities))
    }
  }

  func check(_ app: AppFacts) async throws(AuthorityFailure) {
    try await withRegistry {
      try await $0.checkApp(app.id, regions: Set(app.regions), authorities: Set(app.authorities))
    }
  }

  func removeApp(_ id: String) async throws(AuthorityFailure) {
    try require(await withRegistry { try await $0.removeApp(id) })
  }

  private func withRegistry<Value>(
    _ work: (KeyServerRegistry) async throws -> Value
  ) async throws(AuthorityFailure) -> Value {
    try await withRegister { try await $0.withRegistry(work) }
  }

  /// Runs an operation on the apps and authorities.
  ///
  /// - Throws: `.notOffered` if the key server has no data in this folder, or was never started.
  private func withRegister<Value>(
    _ work: (ServerSetup) async throws -> Value
  ) async throws(AuthorityFailure) -> Value {
    try requireKeys()
    guard setup.hasDatabase(of: .keys) else {
      throw .notOffered("The key server of this folder has no database yet: start it first.")
    }
    return try await reporting { try await work(setup) }
  }
}

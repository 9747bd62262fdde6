import ArgumentParser
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Terminal
import VerificationServer
import World

/// The instructions to phones, and the keys of the servers.
extension FolderAuthority {
  // MARK: - Phones

  func instructions() async throws(AuthorityFailure) -> PhoneInstructions {
    try await requireKeys()
    return try await reporting {
      let document = try documents.existing()
      return PhoneInstructions(
        version: document.version, expires: document.expires, pause: document.pause,
        withdrawn: document.withdrawn)
    }
  }

  func pause(until: Date?) async throws(AuthorityFailure) {
    try await changeDocument {
      $0.pause = DeviceConfiguration.Pause(until: until.map { Int64($0.timeIntervalSince1970) })
    }
  }

  func resume() async throws(AuthorityFailure) {
    try await changeDocument { $0.pause = nil }
  }

  func withdraw(_ file: KeyFileHash) async throws(AuthorityFailure) {
    try await changeDocument { $0.withdraw(file) }
  }

  func restore(_ file: KeyFileHash) async throws(AuthorityFailure) {
    try await changeDocument { $0.restore(file) }
  }

  private var documents: DeviceConfigurationFiles {
    DeviceConfigurationFiles(folder: setup.folder, clock: setup.clock)
  }

  private func changeDocument(
    _ change: (inout DeviceConfiguration) -> Void
  ) async throws(AuthorityFailure) {
    try await requireKeys()
    try await reporting {
      try setup.folder.keySecrets.withLock {
        _ = try documents.existing()
        let keys = try KeySecrets.stored(in: setup.folder)?.signingKeys ?? []
        try documents.next(keys, rootKey: nil, change).store()
      }
    }
  }

  // MARK: - Signing keys

  func signingKeys(of server: SigningServer) async throws(AuthorityFailure) -> [SigningKeyFacts] {
    try await reporting {
      let keys =
        switch server {
        case .keys: try AdministeredKeyServer.signingKeys(of: setup.folder)
        case .verification: try AdministeredVerificationServer.signingKeys(of: setup.folder)
        }
      return (keys ?? []).map {
        SigningKeyFacts(
          id: $0.keyID, version: $0.keyVersion, publicKeyPEM: $0.publicKeyPEM,
          validFrom: $0.validFrom, validThru: $0.validThru)
      }
    }
  }

  func rotateSigningKey(of server: SigningServer) async throws(AuthorityFailure) {
    switch server {
    case .keys:
      try await requireKeys()
      try await reporting { try rotate(AdministeredKeyServer.self) }
    case .verification:
      try await requireVerification()
      try await reporting { try rotate(AdministeredVerificationServer.self) }
    }
  }

  private func rotate<Server: AdministeredServer>(_ server: Server.Type) throws {
    let now = setup.clock.now.timeIntervalSince1970.rounded(.down)
    _ = try Server.rotateKey(
      of: setup, options: try Server.KeyOptions.parse([]),
      from: Date(timeIntervalSince1970: now + Double(Server.leadSeconds)),
      overlapSeconds: Server.overlapSeconds)
  }

  // MARK: - API keys

  func apiKeys() async throws(AuthorityFailure) -> [APIKeyFacts] {
    try await requireVerification()
    return try await reporting {
      try await setup.existingAPIKeys().list().map {
        APIKeyFacts(
          id: $0.id, kind: $0.kind.rawValue, name: $0.name,
          createdAt: Int64($0.createdAt.timeIntervalSince1970),
          revokedAt: $0.revokedAt.map { Int64($0.timeIntervalSince1970) })
      }
    }
  }

  func addAPIKey(
    _ kind: APIKeyFacts.Kind, name: String
  ) async throws(AuthorityFailure) -> String {
    try await requireVerification()
    let kind: APIKeyKind =
      switch kind {
      case .device: .device
      case .admin: .admin
      case .stats: .stats
      }
    return try await reporting {
      try await setup.existingAPIKeys().add(kind: kind, name: name)
    }
  }

  func revokeAPIKey(_ id: String) async throws(AuthorityFailure) {
    try await requireVerification()
    let isKnown = try await reporting { try await setup.existingAPIKeys().revoke(id) }
    guard isKnown else { throw .notFound }
  }

  // MARK: - Authorities and apps

  func authorities() async throws(AuthorityFailure) -> [AuthorityFacts] {
    try await requireKeys()
    return try await reporting {
      try await registry().authorities().map {
        AuthorityFacts(
          issuer: $0.issuer, audience: $0.audience, keyIDs: $0.publicKeysPEM.keys.sorted())
      }
    }
  }

  func add(_ authority: AuthorityFacts, publicKeyPEM: String) async throws(AuthorityFailure) {
    try await requireKeys()
    try await reporting {
      let keys = Dictionary(authority.keyIDs.map { ($0, publicKeyPEM) }) { $1 }
      try await registry().add(
        HealthAuthority(
          issuer: authority.issuer, audience: authority.audience, publicKeysPEM: keys))
    }
  }

  func apps() async throws(AuthorityFailure) -> [AppFacts] {
    try await requireKeys()
    return try await reporting {
      try await registry().apps().map {
        AppFacts(id: $0.id, regions: $0.regions.sorted(), authorities: $0.authorities.sorted())
      }
    }
  }

  func add(_ app: AppFacts) async throws(AuthorityFailure) {
    try await requireKeys()
    try await reporting {
      try await registry().add(
        AuthorizedApp(
          id: app.id, regions: Set(app.regions), authorities: Set(app.authorities)))
    }
  }

  private func registry() throws -> KeyServerRegistry {
    try KeyServerRegistry(databaseFile: setup.folder.keyDatabase)
  }
}

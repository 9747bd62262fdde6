// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Terminal
import TextEncodings
import VerificationServer
import World

/// Administers the servers of one folder for the console, with the same effects as the commands, also while the servers
/// run.
struct FolderAuthority: AdministeredAuthority {
  let setup: ServerSetup
  let codes: CodeSource
  /// The key server of this process.
  let keyServer: KeyServer?
  /// The address that the servers of this process listen on.
  let host: String
  let files: ExportFiles

  var folder: ServerFolder { setup.folder }

  /// The address of a server of this process.
  static func url(host: String, port: Int) -> URL? {
    let isAny = ["0.0.0.0", "::"].contains(host)
    let name = isAny ? "127.0.0.1" : host.contains(":") ? "[\(host)]" : host
    return URL(string: "http://\(name):\(port)")
  }

  /// Runs `work` and turns its errors into those of the console.
  func reporting<Value>(
    _ work: () async throws -> Value
  ) async throws(AuthorityFailure) -> Value {
    do { return try await setup.reportingErrors(work) } catch {
      switch error {
      case let failure as AuthorityFailure: throw failure
      case let failure as CommandFailure where failure.status == .badInput:
        throw .refused(failure.message)
      default: throw .unavailable
      }
    }
  }

  // MARK: - Codes

  func issue(_ request: CodeRequest) async throws(AuthorityFailure) -> IssuedCode {
    try await codes.client().issue(request)
  }

  func issue(_ requests: [CodeRequest]) async -> [Result<IssuedCode, AuthorityFailure>] {
    do throws(AuthorityFailure) { return await (try codes.client()).issue(requests) } catch {
      return requests.map { _ in .failure(error) }
    }
  }

  func state(ofCode uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try await codes.client().state(ofCode: uuid)
  }

  func expire(code uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try await codes.client().expire(code: uuid)
  }

  // MARK: - Remote configuration

  func remoteConfiguration() async throws(AuthorityFailure) -> RemoteConfiguration {
    try await requireKeys()
    return try await reporting { try setup.keySettings().configuration.remoteConfiguration }
  }

  /// Signs the configuration first, because that may fail. Stores it before it is served, so that a restart does not
  /// serve an older version than phones have.
  func replace(
    _ configuration: RemoteConfiguration, ifInForce version: Int
  ) async throws(AuthorityFailure) {
    if let fault = configuration.fault { throw .refused(fault) }
    try await requireKeys()
    try await reporting {
      try await FolderLock.withLock(on: folder.keys) {
        let current = try setup.keySettings().configuration.remoteConfiguration
        guard current.version == version else { throw AuthorityFailure.changed }
        let value = try JSONValue(encoding: configuration)
        guard let keyServer else {
          return try folder.keySettings.replace("remoteConfiguration", with: value)
        }
        try keyServer.replaceRemoteConfiguration(configuration) {
          try folder.keySettings.replace("remoteConfiguration", with: value)
        }
      }
    }
  }

  // MARK: - Presence of the servers

  /// - Throws: `.notOffered` if the key server has no data in this folder.
  func requireKeys() async throws(AuthorityFailure) {
    guard FileManager.default.fileExists(atPath: folder.keySecrets.url.path) else {
      throw .notOffered(
        "The key server has no data in the folder of this console: use `firebreak key-server` on its"
          + " machine.")
    }
  }

  /// - Throws: `.notOffered` if the verification server has no data in this folder.
  func requireVerification() async throws(AuthorityFailure) {
    guard FileManager.default.fileExists(atPath: folder.verificationSecrets.url.path) else {
      throw .notOffered(
        "The verification server has no data in the folder of this console: use"
          + " `firebreak verification-server` on its machine.")
    }
  }
}

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
      $0.pause = DeviceConfiguration.Pause(until: until.map(\.unixSecond))
    }
  }

  func resume() async throws(AuthorityFailure) {
    try await changeDocument { $0.pause = nil }
  }

  func copies(of file: KeyFileHash) async throws(AuthorityFailure) -> [KeyFileCopy] {
    try await requireKeys()
    return try await reporting {
      files.copies(
        of: file, among: try setup.keySettings().configuration.exports, in: folder.exports)
    }
  }

  func withdraw(_ files: [KeyFileHash]) async throws(AuthorityFailure) {
    try await changeDocument { document in for file in files { document.withdraw(file) } }
  }

  func restore(_ files: [KeyFileHash]) async throws(AuthorityFailure) {
    try await changeDocument { document in for file in files { document.restore(file) } }
  }

  private var documents: DeviceConfigurationFiles {
    DeviceConfigurationFiles(folder: folder, clock: setup.clock)
  }

  private func changeDocument(
    _ change: (inout DeviceConfiguration) -> Void
  ) async throws(AuthorityFailure) {
    try await requireKeys()
    try await reporting {
      try folder.keySecrets.withLock {
        _ = try documents.existing()
        let keys = try KeySecrets.stored(in: folder)?.signingKeys ?? []
        try documents.next(keys, rootKey: nil, change).store()
      }
    }
  }

  // MARK: - Signing keys

  func signingKeys(of server: SigningServer) async throws(AuthorityFailure) -> [SigningKeyFacts] {
    try await reporting {
      let keys =
        switch server {
        case .keys: try AdministeredKeyServer.signingKeys(of: folder)
        case .verification: try AdministeredVerificationServer.signingKeys(of: folder)
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
    let now = setup.clock.now.unixSecond
    _ = try Server.rotateKey(
      of: setup, options: try Server.KeyOptions.parse([]),
      from: Date(unixSecond: now + Int64(Server.leadSeconds)),
      overlapSeconds: Server.overlapSeconds)
  }

  // MARK: - API keys

  func apiKeys() async throws(AuthorityFailure) -> [APIKeyFacts] {
    try await requireVerification()
    return try await reporting {
      try await setup.existingAPIKeys().list().map {
        APIKeyFacts(
          id: $0.id, kind: $0.kind.rawValue, name: $0.name,
          createdAt: $0.createdAt.unixSecond,
          revokedAt: $0.revokedAt.map(\.unixSecond))
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
      try await setup.registry().authorities().map {
        AuthorityFacts(
          issuer: $0.issuer, audience: $0.audience, keyIDs: $0.publicKeysPEM.keys.sorted(),
          publicKeysPEM: $0.publicKeysPEM)
      }
    }
  }

  func add(_ authority: AuthorityFacts, publicKeyPEM: String) async throws(AuthorityFailure) {
    try await requireKeys()
    let change = Self.change(authority, publicKeyPEM)
    try await reporting { _ = try await setup.registry().apply(change) }
  }

  func check(_ authority: AuthorityFacts, publicKeyPEM: String) async throws(AuthorityFailure) {
    try await requireKeys()
    let change = Self.change(authority, publicKeyPEM)
    try await reporting { try await setup.registry().check(change) }
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
    try await requireKeys()
    let isKnown = try await reporting { try await setup.registry().removeAuthority(issuer) }
    guard isKnown else { throw .notFound }
  }

  func withdrawKey(_ keyID: String, of issuer: String) async throws(AuthorityFailure) {
    try await requireKeys()
    let isKnown = try await reporting {
      try await setup.registry().withdrawKey(keyID, of: issuer)
    }
    guard isKnown else { throw .notFound }
  }

  func apps() async throws(AuthorityFailure) -> [AppFacts] {
    try await requireKeys()
    return try await reporting {
      try await setup.registry().apps().map {
        AppFacts(id: $0.id, regions: $0.regions.sorted(), authorities: $0.authorities.sorted())
      }
    }
  }

  func add(_ app: AppFacts) async throws(AuthorityFailure) {
    try await requireKeys()
    try await reporting {
      _ = try await setup.registry().changeApp(
        app.id, regions: Set(app.regions), authorities: Set(app.authorities))
    }
  }

  func check(_ app: AppFacts) async throws(AuthorityFailure) {
    try await requireKeys()
    try await reporting {
      try await setup.registry().checkApp(
        app.id, regions: Set(app.regions), authorities: Set(app.authorities))
    }
  }

  func removeApp(_ id: String) async throws(AuthorityFailure) {
    try await requireKeys()
    let isKnown = try await reporting { try await setup.registry().removeApp(id) }
    guard isKnown else { throw .notFound }
  }
}

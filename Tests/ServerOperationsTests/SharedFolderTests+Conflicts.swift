// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Logging
import PostgreSQL
import ServedSystem
import ServerStorage
import Settings
import Terminal
import TestSupport
import Testing
import TextEncodings
import VerificationServer
import World

@testable import ServerOperations

/// Changes that a process must not lose, undo or make twice.
extension SharedFolderTests {
  @Test("A document that is due is signed by one process, and by no start and no request")
  func renewal() async throws {
    let before = try (document: document(first), revision: #require(await revision()))
    let clock = ManualClock(Date(unixSecond: before.document.renewal))
    let setups = [first, second].map {
      ServerSetup(folder: $0.folder, database: $0.database, clock: clock) { _ in }
    }
    for setup in setups {
      _ = try setup.keySecrets()
      _ = try ServedDeviceConfiguration(setup.deviceConfiguration, renews: false).data()
      #expect(try document(setup) == before.document)
    }
    for setup in setups { try await setup.renewDeviceConfiguration() }
    #expect(try document(first).version > before.document.version)
    #expect(try document(first) == document(second))
    #expect(try await revision() == before.revision + 1)
  }

  /// The key on a token of one machine.
  private func onToken(_ key: SecretSigningKey) throws -> SecretSigningKey {
    var fields = ["keyID": key.keyID, "publicKeyPEM": key.publicKeyPEM, "tokenKey": Self.uri]
    fields["keyVersion"] = key.keyVersion
    return try JSONDecoder().decode(SecretSigningKey.self, from: JSONEncoder().encode(fields))
  }

  @Test("A key that is on a token of one machine stays there, and in the file of the other")
  func places() async throws {
    var secrets = try #require(try KeySecrets.stored(in: second.folder))
    secrets.signingKeys = try secrets.signingKeys.map(onToken)
    try second.folder.keySecrets.replace(secrets)
    var codes = try #require(try VerificationSecrets.stored(in: second.folder))
    codes.signingKeys = try codes.signingKeys.map(onToken)
    try second.folder.verificationSecrets.replace(codes)
    let before = try await revision()
    for server in [ServerName.keys, .verification] { try await second.synchronize(server) }
    #expect(try await revision() == before)
    _ = try await SigningKeyStore(first, of: .keys).rotate()
    _ = try await SigningKeyStore(first, of: .verification).rotate()
    for server in [ServerName.keys, .verification] { try await second.synchronize(server) }
    // In the other direction.
    try await second.publish(.pause(until: nil))
    _ = try await second.addAPIToken()
    for server in [ServerName.keys, .verification] { try await first.synchronize(server) }
    for (setup, uris) in [(first, [nil, nil]), (second, [Self.uri, nil])] {
      let keys = try #require(try KeySecrets.stored(in: setup.folder)).signingKeys
      let tokenKeys = try #require(try VerificationSecrets.stored(in: setup.folder)).signingKeys
      for keys in [keys, tokenKeys] {
        #expect(keys.map(\.tokenKey) == uris)
        #expect(keys.first?.validThru != nil)
      }
    }
    #expect(try document(first).pause != nil)
  }

  /// True if the shared state of the key server has a private key.
  private func hasPrivateKey() async throws -> Bool {
    let stored = first.folder.server(.keys)
    let address = try #require(try first.databaseAddress(of: .keys))
    let database = stored.postgreSQLDatabase(at: address)
    defer { database.close() }
    let state = try #require(try await database.sharedState())
    let secret = try #require(try stored.identity)
    let content = try SharedStateSeal(secret, of: stored).content(of: state)
    return String(decoding: try JSONEncoder().encode(content), as: UTF8.self).contains("PRIVATE")
  }

  @Test(
    "After a relocation to a token the database has no private key, and the other folder keeps its own"
  )
  func relocated() async throws {
    #expect(try await hasPrivateKey())
    let revision = try #require(try await revision())
    func relocate() async throws {
      try await first.sharing(.keys, reseals: true) {
        var secrets = try #require(try KeySecrets.stored(in: first.folder))
        secrets.signingKeys = try secrets.signingKeys.map(onToken)
        try first.folder.keySecrets.replace(secrets)
      }
    }
    // The first run changes only the folder, and no comparison changes the database.
    try await cluster.run(
      "CREATE RULE kept AS ON UPDATE TO shared_state DO INSTEAD NOTHING", in: "firebreak_keys")
    let failure = await #expect(throws: CommandFailure.self) { try await relocate() }
    #expect(failure?.message.contains("run the command again") == true)
    try await cluster.run("DROP RULE kept ON shared_state", in: "firebreak_keys")
    try await first.synchronize(.keys)
    #expect(try await hasPrivateKey())
    try await relocate()
    #expect(try await self.revision() == revision + 1)
    #expect(try await !hasPrivateKey())
    for setup in [second, first] { try await setup.synchronize(.keys) }
    #expect(try await self.revision() == revision + 1)
    let own = try #require(try KeySecrets.stored(in: second.folder)).signingKeys
    #expect(!own.isEmpty && own.allSatisfy { $0.tokenKey == nil })
  }

  @Test("Of two documents that differ only in their signatures, all folders get the later one")
  func renewedTwice() async throws {
    func renew(_ setup: ServerSetup, later seconds: Int64) throws -> DeviceConfiguration {
      let clock = ManualClock(Date(unixSecond: try document(setup).renewal + seconds))
      let alone = ServerSetup(folder: setup.folder, clock: clock) { _ in }
      return try alone.deviceConfiguration.publish()
    }
    try await first.publish(.pause(until: 4_000_000_000))
    try await second.synchronize(.keys)
    let later = try renew(second, later: 1)
    let earlier = try renew(first, later: 0)
    try #require(later.version > earlier.version)
    // The earlier one is stored first. Phones may have read the later one.
    try await first.synchronize(.keys)
    for _ in 0..<2 { for setup in [second, first] { try await setup.synchronize(.keys) } }
    for setup in [first, second] { #expect(try document(setup) == later) }
    #expect(later.pause != nil)
  }

  @Test("Two keys with one ID are not the same key: without records one is reported as lost")
  func equalIDs() async throws {
    for setup in [first, second] {
      let alone = ServerSetup(folder: setup.folder) { _ in }
      _ = try await SigningKeyStore(alone, of: .verification).rotate()
    }
    try await first.synchronize(.verification)
    try FileManager.default.removeItem(
      at: second.folder.url.appendingPathComponent("verification/shared-state.json"))
    let stored = second.folder.server(.verification)
    let address = try #require(try second.databaseAddress(of: .verification))
    let folder = SharedFolder(
      stored, in: stored.postgreSQLDatabase(at: address), clock: SystemClock())
    #expect(try await folder.synchronize() == SharedFolder.Outcome.loaded(losesChange: true))
  }

  @Test("A command that exports has the changes that were made after its start")
  func exports() async throws {
    let server = try second.keyServer(logger: RealmScene.logger)
    _ = try await SigningKeyStore(first, of: .keys).rotate()
    _ = try await server.exportDue(waitsForOthers: true)
    #expect(try keyIDs(second, .keys) == ["v1", "v2"])
  }

  @Test("What the version before has revoked stays revoked, whichever process starts first")
  func versionBefore() async throws {
    let alone = ServerSetup(folder: second.folder) { _ in }
    _ = try await SigningKeyStore(alone, of: .verification).revoke()
    let tokens = try await alone.revokeAPITokens(keepsCodes: true).tokens
    try FileManager.default.removeItem(
      at: second.folder.url.appendingPathComponent("verification/shared-state.json"))
    for setup in [second, first] { try await setup.synchronize(.verification) }
    for setup in [first, second] {
      #expect(try setup.apiTokens() == tokens)
      #expect(try keyIDs(setup, .verification) == ["t1", "t2"])
    }
  }

  @Test("A change that a failover has lost is reported, although another one was stored since")
  func failover() async throws {
    try await second.synchronize(.keys)
    try await cluster.run("CREATE TABLE kept AS TABLE shared_state", in: "firebreak_keys")
    try await first.publish(.pause(until: nil))
    try await cluster.run("DELETE FROM shared_state", in: "firebreak_keys")
    try await cluster.run("INSERT INTO shared_state TABLE kept", in: "firebreak_keys")
    try await second.publish(.withdraw([try #require(KeyFileHash(hex: Self.hash))]))
    let stored = first.folder.server(.keys)
    let address = try #require(try first.databaseAddress(of: .keys))
    let folder = SharedFolder(
      stored, in: stored.postgreSQLDatabase(at: address), clock: SystemClock())
    #expect(try await folder.synchronize() == SharedFolder.Outcome.loaded(losesChange: true))
    #expect(try document(first) == document(second))
  }

  @Test("A remote configuration that could not be stored for all processes is not served")
  func remoteConfiguration() async throws {
    let keys = try first.keyServer(logger: RealmScene.logger)
    let authority = FolderAuthority(
      setup: first,
      codes: CodeSource(
        server: nil, host: "127.0.0.1", localKey: nil, remote: nil, remoteKey: nil,
        responseSeconds: Int64(Patience.seconds)),
      keyServer: keys, host: "127.0.0.1", files: ExportFiles())
    var configuration = try await authority.remoteConfiguration()
    let version = configuration.version
    configuration.version += 1
    try await cluster.run(
      "CREATE RULE kept AS ON UPDATE TO shared_state DO INSTEAD NOTHING", in: "firebreak_keys")
    await #expect(throws: AuthorityFailure.self) {
      try await authority.replace(configuration, ifInForce: version)
    }
    #expect(keys.remoteConfigurationVersion == version)
    // The next comparison stores it.
    try await cluster.run("DROP RULE kept ON shared_state", in: "firebreak_keys")
    for setup in [first, second] { try await setup.synchronize(.keys) }
    #expect(try second.keySettings().configuration.remoteConfiguration == configuration)
  }

  @Test("A lock that cannot be opened is named")
  func lock() async throws {
    let file = second.folder.url.appendingPathComponent("keys/shared-state.lock")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    let failure = await #expect(throws: CommandFailure.self) { try await second.synchronize(.keys) }
    #expect(failure?.message.contains("shared-state.lock") == true)
  }

  private static let uri = "pkcs11:token=second;object=key?module-path=/opt/second.so"
}

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

/// Two folders with one database in PostgreSQL, as those of two processes.
@Suite("Folders that follow a shared database", .needs(.process)) struct SharedFolderTests {
  let place: TemporaryFolder
  let cluster: PrivatePostgreSQL
  let first: ServerSetup
  let second: ServerSetup

  init() async throws {
    place = try TemporaryFolder()
    cluster = try await PrivatePostgreSQL()
    for server in ["verification", "keys"] {
      try await cluster.createDatabase("firebreak_\(server)")
    }
    let address = try PostgreSQLAddress(cluster.address() + " connect_timeout=60")
    try ServedAuthority.prepare(place, "first")
    let folder = try ServerFolder(path: place.path("first").path)
    first = ServerSetup(folder: folder, database: address) { _ in }
    _ = try first.keySecrets()
    _ = try VerificationSecrets.storedOrNew(in: folder)
    for server in [ServerName.keys, .verification] { try await first.synchronize(server) }
    try FileManager.default.copyItem(at: place.path("first"), to: place.path("second"))
    second = ServerSetup(
      folder: try ServerFolder(path: place.path("second").path), database: address
    ) { _ in }
  }

  func document(_ setup: ServerSetup) throws -> DeviceConfiguration {
    try setup.deviceConfiguration.existing()
  }

  func keyIDs(_ setup: ServerSetup, _ server: SigningServer) throws -> [String] {
    try SigningKeyStore(setup, of: server).keys()?.map { $0.version ?? $0.id } ?? []
  }

  func revision(_ server: String = "keys") async throws -> Int64? {
    try await cluster.run("SELECT revision FROM shared_state", in: "firebreak_\(server)")
  }

  @Test("A change in one folder reaches the other, in both directions and twice")
  func changes() async throws {
    for (from, to) in [(first, second), (second, first), (first, second)] {
      try await from.publish(.pause(until: nil))
      #expect(try document(to).pause == nil)
      try await to.synchronize(.keys)
      #expect(try document(to) == document(from) && document(to).pause != nil)
      try await to.publish(.resume)
      try await from.synchronize(.keys)
      #expect(try document(from).pause == nil)
    }
    let revision = try await revision()
    for setup in [first, second] { try await setup.synchronize(.keys) }
    #expect(try await self.revision() == revision)
  }

  @Test("Keys, tokens, rules for codes and the remote configuration reach the other folder")
  func content() async throws {
    _ = try await SigningKeyStore(first, of: .keys).rotate()
    _ = try await SigningKeyStore(first, of: .verification).rotate()
    let tokens = try await first.addAPIToken()
    let rules = IssueRules(
      pinLifetime: 1_200, shortCodeDigits: 9, shortCodeLifetime: 1_200, longCodeLifetime: 3_600,
      requiresDate: true)
    try await first.sharing(.verification) { try first.setIssueRules(rules) }
    try await first.sharing(.keys) {
      try first.folder.keySettings.replace(
        "remoteConfiguration", with: .object(["version": .integer(7)]))
    }
    for server in [ServerName.keys, .verification] { try await second.synchronize(server) }
    #expect(try keyIDs(second, .keys) == ["v1", "v2"])
    #expect(try keyIDs(second, .verification) == ["t1", "t2"])
    #expect(try second.apiTokens() == tokens && tokens.count == 2)
    #expect(try second.verificationSettings().configuration.issueRules == rules)
    #expect(try second.keySettings().configuration.remoteConfiguration.version == 7)
    // The key server of this folder knows the key before a token has its signature.
    #expect(try second.folder.tokenPublicKeys.read().keys.sorted() == ["t1", "t2"])
  }

  @Test(
    "A second process needs only the secrets: the document and the root key come from the database")
  func secretsOnly() async throws {
    try await first.publish(.pause(until: nil))
    try ServedAuthority.prepare(place, "third")
    try FileManager.default.copyItem(
      at: first.folder.keySecrets.url, to: place.path("third/keys/secrets.json"))
    let third = ServerSetup(
      folder: try ServerFolder(path: place.path("third").path), database: first.database
    ) { _ in }
    try await third.synchronize(.keys)
    #expect(try document(third) == document(first))
    // It can start.
    _ = try third.keySecrets()
  }

  @Test("Of two changes at the same time one is made, and the other command fails")
  func conflict() async throws {
    let failure = await #expect(throws: CommandFailure.self) {
      try await first.sharing(.keys) {
        try first.deviceConfiguration.publish(.pause(until: nil))
        // After the first process has read the state, and before it stores its own.
        try await second.publish(.withdraw([try #require(KeyFileHash(hex: Self.hash))]))
      }
    }
    #expect(failure?.message.contains("Another process has changed") == true)
    #expect(try document(first) == document(second))
    #expect(try document(first).pause == nil && document(first).withdrawn.count == 1)
    try await first.publish(.pause(until: nil))
    try await second.synchronize(.keys)
    #expect(try document(second).pause != nil && document(second).withdrawn.count == 1)
  }

  @Test("A state is stored only over the one that was read, and finds itself when it is repeated")
  func replaced() async throws {
    let address = try #require(try first.databaseAddress(of: .keys))
    let database = first.folder.server(.keys).postgreSQLDatabase(at: address)
    defer { database.close() }
    let state = try #require(try await database.sharedState())
    let next = SharedState(revision: state.revision + 1, sealed: Data([1]))
    for _ in 0..<2 { #expect(try await database.store(next, replacing: state)) }
    let other = SharedState(revision: state.revision + 1, sealed: Data([2]))
    for old in [state, nil] { #expect(try await !database.store(other, replacing: old)) }
    #expect(try await database.sharedState() == next)
  }

  @Test("Files from a backup replace no later change, and a lost document comes back")
  func earlierFiles() async throws {
    let kept = place.path("kept")
    try FileManager.default.copyItem(at: second.folder.url, to: kept)
    try await second.publish(.pause(until: nil))
    _ = try await SigningKeyStore(second, of: .verification).rotate(overlapSeconds: 0)
    for name in [
      "keys/device-configuration.json", "keys/secrets.json", "verification/secrets.json",
    ] {
      let file = second.folder.url.appendingPathComponent(name)
      try FileManager.default.removeItem(at: file)
      try FileManager.default.copyItem(at: kept.appendingPathComponent(name), to: file)
    }
    for server in [ServerName.keys, .verification] { try await second.synchronize(server) }
    #expect(try document(second).pause != nil)
    #expect(try keyIDs(second, .verification) == ["t1", "t2"])
    try FileManager.default.removeItem(at: second.folder.deviceConfiguration)
    try await second.synchronize(.keys)
    #expect(try document(second).pause != nil)
  }

  @Test("If the database loses a change, the folder that has it stores it again")
  func restoredDatabase() async throws {
    for setup in [first, second] { try await setup.synchronize(.keys) }
    try await cluster.run("CREATE TABLE kept AS TABLE shared_state", in: "firebreak_keys")
    try await first.publish(.pause(until: nil))
    try await first.publish(.resume)
    try await first.publish(.pause(until: 4_000_000_000))
    let revision = try #require(try await revision())
    try await cluster.run("DELETE FROM shared_state", in: "firebreak_keys")
    try await cluster.run("INSERT INTO shared_state TABLE kept", in: "firebreak_keys")
    try await second.synchronize(.keys)
    #expect(try document(second).pause == nil)
    try await first.synchronize(.keys)
    #expect(try await self.revision() == revision + 1)
    try await second.synchronize(.keys)
    #expect(try document(second).pause?.until == 4_000_000_000)
    // As in a new cluster.
    try await cluster.run("DELETE FROM shared_state", in: "firebreak_keys")
    try await second.synchronize(.keys)
    #expect(try await self.revision() == revision + 2)
  }

  @Test("The state is sealed, and one that was changed in the database is refused")
  func sealed() async throws {
    let plain = try await cluster.run(
      """
      SELECT count(*) FROM shared_state
      WHERE encode(sealed, 'escape') LIKE '%PRIVATE%' OR encode(sealed, 'escape') LIKE '%keyID%'
      """, in: "firebreak_keys")
    #expect(plain == 0)
    // An earlier state cannot pass for a later one.
    try await cluster.run(
      "UPDATE shared_state SET revision = revision + 1", in: "firebreak_keys")
    let failure = await #expect(throws: CommandFailure.self) {
      try await first.publish(.pause(until: nil))
    }
    #expect(failure?.message.contains("shared_state") == true)
    #expect(try document(first).pause == nil)
  }

  @Test("Without the database nothing is changed, and a folder with another root key is refused")
  func refused() async throws {
    try Data("another".utf8).write(to: second.folder.rootPublicKey)
    try await first.publish(.pause(until: nil))
    let root = await #expect(throws: CommandFailure.self) { try await second.synchronize(.keys) }
    #expect(root?.message.contains("another root key") == true)
    try await cluster.kill()
    let before = try Data(contentsOf: first.folder.deviceConfiguration)
    let failure = await #expect(throws: CommandFailure.self) { try await first.publish(.resume) }
    #expect(failure?.message.contains("Nothing was changed") == true)
    #expect(try Data(contentsOf: first.folder.deviceConfiguration) == before)
  }

  @Test("A server is current until two minutes after the last comparison, and again after the next")
  func current() async throws {
    let clock = ManualClock(Date(unixSecond: 1_600_000_000))
    let stored = second.folder.server(.keys)
    let address = try #require(try second.databaseAddress(of: .keys))
    let folders = SharedFolders(
      [SharedFolder(stored, in: stored.postgreSQLDatabase(at: address), clock: clock)],
      clock: clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    clock.advance(by: SharedStateLimit.staleSeconds - 1)
    #expect(folders.isCurrent(.keys) && folders.isCurrent(.console))
    clock.advance(by: 1)
    #expect(!folders.isCurrent(.keys))
    try await first.publish(.pause(until: nil))
    #expect(await folders.synchronizeAll() == [.keys])
    #expect(folders.isCurrent(.keys))
    #expect(try document(second).pause != nil)
    #expect(await folders.synchronizeAll().isEmpty)
    try await cluster.kill()
    clock.advance(by: SharedStateLimit.staleSeconds)
    #expect(await folders.synchronizeAll().isEmpty)
    #expect(!folders.isCurrent(.keys))
    await #expect(throws: KeyServerError.self) { try await folders.synchronize(.keys) }
  }

  static let hash = String(repeating: "ab", count: 32)
}

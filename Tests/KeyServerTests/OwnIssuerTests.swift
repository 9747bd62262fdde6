// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import KeyServerAPI
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("The issuer of our own verification server")
struct OwnIssuerTests {
  /// The keys that the operator's file has.
  private final class TokenKeys: Sendable {
    let current: Mutex<[String: P256.Signing.PrivateKey]>

    init(_ keys: [String: P256.Signing.PrivateKey]) { current = Mutex(keys) }
  }

  private let foreign = P256.Signing.PrivateKey()

  private var foreignPEM: String { foreign.publicKey.pemRepresentation }

  @Test(
    "It cannot be added as an authority, in no spelling that looks like it",
    arguments: [
      "codes", "Codes", "CODES", " codes", "codes ", "codes\n", "c0des", "соdes", "ｃｏｄｅｓ",
      "co\u{200B}des", "códes", "codes.",
    ])
  func refused(issuer: String) async throws {
    let folder = try TemporaryFolder()
    let configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    let registry = try KeyServerRegistry(
      databaseFile: configuration.databaseFile, configuration: configuration)
    for _ in 0..<2 {
      await #expect(throws: KeyServerError.self) {
        try await registry.add(
          HealthAuthority(issuer: issuer, audience: "keys", publicKeysPEM: ["t1": foreignPEM]))
      }
    }
    var change = HealthAuthorityChange(issuer: issuer)
    change.seesStatistics = true
    await #expect(throws: KeyServerError.self) { try await registry.apply(change) }
    #expect(try await registry.authorities().isEmpty)
  }

  @Test("An app may use it without adding it")
  func app() async throws {
    let folder = try TemporaryFolder()
    let configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    let registry = try KeyServerRegistry(
      databaseFile: configuration.databaseFile, configuration: configuration)
    try await registry.add(AuthorizedApp(id: "an.app", regions: ["PL"], authorities: ["codes"]))
    #expect(try await registry.apps().map(\.id) == ["an.app"])
  }

  @Test(
    "A command that exports with other options does not change the issuer that the server serves")
  func servedIssuer() async throws {
    let folder = try TemporaryFolder()
    for issuer in ["codes", "other codes"] {
      try await RunningKeyServer.run(folder: folder, { $0.tokenIssuer = issuer }) { server in
        var configuration = server.configuration
        configuration.tokenIssuer = "another"
        for _ in 0..<2 {
          let command = try KeyServer(
            configuration, clock: server.clock, randomness: SystemRandomness(),
            logger: CollectedLog().logger)
          _ = try await command.exportDue()
          try await command.removeOld()
        }
        let served = try server.inDatabase {
          try String.fetchOne($0, sql: "SELECT served_issuer FROM server_state")
        }
        #expect(served == issuer)
      }
    }
  }

  @Test("An app cannot have a name that looks like a known one, or regions that no export includes")
  func lookAlikeApp() async throws {
    let folder = try TemporaryFolder()
    let configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    let registry = try KeyServerRegistry(
      databaseFile: configuration.databaseFile, configuration: configuration)
    for id in ["PL.gov.mc.protegosafe", "pl.gov.mc.protegosafe ", "рl.gov.mc.protegosafe"] {
      await #expect(throws: KeyServerError.self) {
        try await registry.add(AuthorizedApp(id: id, regions: ["PL"], authorities: ["codes"]))
      }
    }
    for regions: Set<String> in [["DE"], ["PL", "DE"]] {
      do throws(KeyServerError) {
        try await registry.add(AuthorizedApp(id: "x", regions: regions, authorities: ["codes"]))
        Issue.record("accepted")
      } catch {
        #expect("\(error)".contains("DE"), "\(error)")
      }
    }
    #expect(try await registry.apps().isEmpty)
  }

  @Test("A stored entry from before is ignored and logged, also after a rotation of our keys")
  func storedBefore() async throws {
    let (folder, authority, log) = (try TemporaryFolder(), Authority(), CollectedLog())
    let configuration = RunningKeyServer.configuration(authority: authority, folder: folder)
    // Without the configuration nothing is checked, as in earlier versions.
    try await KeyServerRegistry(databaseFile: configuration.databaseFile).add(
      HealthAuthority(
        issuer: "codes", audience: "another server",
        publicKeysPEM: ["t1": foreignPEM, "t2": foreignPEM, "f1": foreignPEM]))
    let keys = TokenKeys(["t1": authority.tokenKey])
    try await RunningKeyServer.run(
      authority: authority, folder: folder, log: log,
      {
        $0.readTokenPublicKeysPEM = {
          keys.current.withLock { $0 }.mapValues(\.publicKey.pemRepresentation)
        }
      }
    ) { server in
      let scene = PublishScene(server: server)
      func status(_ id: String, _ key: P256.Signing.PrivateKey) async throws -> UInt {
        let sent = scene.keys(1)
        let certificate = try scene.certificate(sent) { ($0.keyID, $0.key) = (id, key) }
        return try await scene.publish(scene.request(sent, certificate: certificate)).status
      }
      #expect(try await status("t1", authority.tokenKey) == 200)
      #expect(try await status("t1", foreign) == 401)
      #expect(try await status("f1", foreign) == 401)
      let next = P256.Signing.PrivateKey()
      keys.current.withLock { $0["t2"] = next }
      server.clock.advance(by: KeyServerLimit.registryAgeSecondsMax)
      #expect(try await status("t2", next) == 200)
      #expect(try await status("t2", foreign) == 401)
      let lines = log.errors.filter { $0.contains("stored authority codes") }
      #expect(lines.count == 1 && lines[0].contains("authority remove"), "\(log.errors)")
      let registry = try KeyServerRegistry(
        databaseFile: configuration.databaseFile, configuration: configuration)
      #expect(try await registry.removeAuthority("codes"))
      #expect(try await registry.removeAuthority("codes") == false)
      server.clock.advance(by: KeyServerLimit.registryAgeSecondsMax)
      #expect(try await status("t2", next) == 200)
    }
  }

  @Test("Two authorities of the configuration with one issuer are refused at the start")
  func twice() throws {
    let folder = try TemporaryFolder()
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    for issuers in [["codes"], ["lab", "lab"], ["lab", "LAB"]] {
      configuration.healthAuthorities = issuers.map { HealthAuthority(issuer: $0, audience: "a") }
      #expect(throws: KeyServerError.self) { try configuration.checked() }
    }
    configuration.healthAuthorities = [HealthAuthority(issuer: "lab", audience: "a")]
    try configuration.checked()
  }
}

@Suite("Changes of authorities")
struct AuthorityChangeTests {
  private let one = P256.Signing.PrivateKey()
  private let two = P256.Signing.PrivateKey()

  private func registry(_ folder: TemporaryFolder) throws -> KeyServerRegistry {
    let configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    return try KeyServerRegistry(
      databaseFile: configuration.databaseFile, configuration: configuration)
  }

  @Test("A second key keeps the page and the statistics, and a change of one property the others")
  func keeps() async throws {
    let folder = try TemporaryFolder()
    let registry = try registry(folder)
    let page = try #require(URL(string: "https://lab.example/jwks"))
    var change = HealthAuthorityChange(issuer: "lab")
    await #expect(throws: KeyServerError.self) { try await registry.apply(change) }
    (change.audience, change.jwksURL) = ("keys", URL(string: "https://lab.example:99999/jwks"))
    await #expect(throws: KeyServerError.self) { try await registry.apply(change) }
    (change.jwksURL, change.seesStatistics) = (page, true)
    change.addedKeysPEM = ["k1": one.publicKey.pemRepresentation]
    try await registry.apply(change)
    var second = HealthAuthorityChange(issuer: "lab")
    second.addedKeysPEM = ["k2": two.publicKey.pemRepresentation]
    for _ in 0..<2 { try await registry.apply(second) }
    let expected = HealthAuthority(
      issuer: "lab", audience: "keys",
      publicKeysPEM: [
        "k1": one.publicKey.pemRepresentation, "k2": two.publicKey.pemRepresentation,
      ], jwksURL: page, seesStatistics: true)
    #expect(try await registry.authorities() == [expected])
    var third = HealthAuthorityChange(issuer: "lab")
    (third.seesStatistics, third.removesJWKSURL) = (false, true)
    try await registry.apply(third)
    let stored = try #require(try await registry.authorities().first)
    #expect(!stored.seesStatistics && stored.jwksURL == nil && stored.audience == "keys")
    #expect(stored.publicKeysPEM == expected.publicKeysPEM)
  }

  @Test("A withdrawn key comes back neither by command, under another id, nor after a removal")
  func withdrawn() async throws {
    let folder = try TemporaryFolder()
    let registry = try registry(folder)
    let authority = HealthAuthority(
      issuer: "lab", audience: "keys",
      publicKeysPEM: [
        "k1": one.publicKey.pemRepresentation, "k2": two.publicKey.pemRepresentation,
      ])
    try await registry.add(authority)
    #expect(try await registry.withdrawKey("k1", of: "lab"))
    #expect(try await registry.withdrawKey("k1", of: "lab") == false)
    #expect(try await registry.withdrawKey("none", of: "lab") == false)
    for _ in 0..<2 {
      #expect(try await registry.authorities().first?.publicKeysPEM.keys.sorted() == ["k2"])
      #expect(try await registry.withdrawnKeyIDs(of: "lab") == ["k1"])
      for (id, key) in [("k1", one), ("k1", two), ("k9", one)] {
        var change = HealthAuthorityChange(issuer: "lab")
        change.audience = "keys"
        // The same key in another text.
        change.addedKeysPEM = [id: key.publicKey.pemRepresentation + "\n"]
        await #expect(throws: KeyServerError.self) { try await registry.apply(change) }
      }
      #expect(try await registry.removeAuthority("lab"))
      var again = authority
      again.publicKeysPEM["k1"] = nil
      try await registry.add(again)
    }
  }

  @Test("A withdrawn key is not read again from the page", arguments: StoreImplementation.allCases)
  func pulled(_ implementation: StoreImplementation) async throws {
    let scene = try await StoreScene(implementation)
    try await scene.store.add(HealthAuthority(issuer: "lab", audience: "keys"))
    func pull(_ keys: [String: String]) async throws -> [String] {
      try await scene.store.replacePulledKeys(
        of: "lab", with: keys, at: StoreScene.now, othersEnd: StoreScene.now)
      return (try await scene.store.registryEntries().keys["lab"] ?? [])
        .filter { $0.isGood(at: StoreScene.now) }.map(\.keyID).sorted()
    }
    #expect(try await pull(["a": "one", "b": "two"]) == ["a", "b"])
    #expect(try await scene.store.withdrawKey("a", of: "lab", at: StoreScene.now))
    #expect(try await pull(["a": "one", "b": "two"]) == ["b"])
    #expect(try await pull(["a": "new", "c": "one"]) == [])
    #expect(try await pull(["a": "one", "d": "four"]) == ["d"])
    // Keys that a late request stored after the removal do not return with the authority.
    #expect(try await scene.store.removeAuthority("lab"))
    #expect(try await pull(["d": "four"]) == ["d"])
    try await scene.store.add(HealthAuthority(issuer: "lab", audience: "keys"))
    #expect(try await scene.store.registryEntries().keys["lab"]?.map(\.keyID) == ["a"])
  }

  @Test("An app keeps what is not named, and is removed")
  func apps() async throws {
    let folder = try TemporaryFolder()
    let registry = try registry(folder)
    try await registry.add(
      HealthAuthority(
        issuer: "lab", audience: "a", publicKeysPEM: ["k": one.publicKey.pemRepresentation]))
    await #expect(throws: KeyServerError.self) {
      try await registry.changeApp("x", regions: ["PL"], authorities: nil)
    }
    try await registry.changeApp("x", regions: ["PL"], authorities: ["lab"])
    let changed = try await registry.changeApp("x", regions: ["PL", "CZ"], authorities: nil)
    #expect(changed == AuthorizedApp(id: "x", regions: ["PL", "CZ"], authorities: ["lab"]))
    #expect(try await registry.removeApp("x"))
    #expect(try await registry.removeApp("x") == false)
    #expect(try await registry.apps().isEmpty)
  }
}

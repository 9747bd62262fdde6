// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import Synchronization
import TestSupport
import Testing
import UploadToken

@testable import KeyServer

@Suite("Registry of apps and authorities")
struct RegistryTests {
  /// An authority's JWKS page on a free local port.
  private final class KeyPage: Sendable {
    let keys = Mutex<[String: P256.Signing.PrivateKey]>([:])
    let isBroken = Mutex(false)
    let isSilent = Mutex(false)
    /// The length of the page, padded with blanks; 0 for no padding.
    let length = Mutex(0)
    /// JSON to insert before the keys.
    let otherKeys = Mutex("")
    /// The target of a redirect.
    let movedTo = Mutex<URL?>(nil)
    let requestCount = Mutex(0)

    func run(_ body: (URL) async throws -> Void) async throws {
      let (ports, port) = AsyncStream.makeStream(of: Int.self)
      let router = Router()
      router.get("jwks") { [self] _, _ in
        requestCount.withLock { $0 += 1 }
        if let url = movedTo.withLock({ $0 }) {
          throw HTTPError(.found, headers: [.location: url.absoluteString], message: nil)
        }
        guard !isBroken.withLock({ $0 }) else { throw HTTPError(.internalServerError) }
        if isSilent.withLock({ $0 }) { try await Task.sleep(for: .seconds(3_600)) }
        let shown = try keys.withLock { $0 }.map {
          try SigningKey(keyID: $0.key, privateKeyPEM: $0.value.pemRepresentation)
        }
        let set = try SigningKeys(shown).published(at: RunningKeyServer.start)
        let text = String(decoding: try JSONEncoder().encode(set), as: UTF8.self)
          .replacing(
            #""keys":["#, with: #""keys":["# + otherKeys.withLock { $0 }, maxReplacements: 1)
        return text.padding(
          toLength: max(text.utf8.count, length.withLock { $0 }), withPad: " ", startingAt: 0)
      }
      var logger = Logger(label: "key page")
      logger.logLevel = .critical
      let application = Application(
        router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
      let running = Task { try await application.run() }
      defer { running.cancel() }
      for await port in ports {
        try await body(try #require(URL(string: "http://127.0.0.1:\(port)/jwks")))
        break
      }
    }
  }

  @Test("An app and an authority that are added while the server runs can publish within a minute")
  func added() async throws {
    try await RunningKeyServer.run { server in
      // The key pull at the start drops the cached registry.
      try await server.untilIdle()
      let scene = PublishScene(server: server)
      let key = P256.Signing.PrivateKey()
      let keys = scene.keys(2)
      func publish() async throws -> Published {
        let certificate = try scene.certificate(keys) {
          ($0.issuer, $0.audience, $0.keyID, $0.key) = ("new authority", "us", "k9", key)
        }
        return try await scene.publish(
          scene.request(keys, certificate: certificate) { $0.healthAuthorityID = "new.app" })
      }
      #expect(try await publish().code == .unknownHealthAuthorityID)
      let registry = try KeyServerRegistry(databaseFile: server.configuration.databaseFile)
      let app = AuthorizedApp(id: "new.app", regions: ["CZ"], authorities: ["new authority"])
      await #expect(throws: KeyServerError.self) { try await registry.add(app) }
      try await registry.add(
        HealthAuthority(
          issuer: "new authority", audience: "us",
          publicKeysPEM: ["k9": key.publicKey.pemRepresentation]))
      try await registry.add(app)
      server.clock.advance(by: KeyServerLimit.registryAgeSecondsMax - 1)
      #expect(try await publish().code == .unknownHealthAuthorityID)
      server.clock.advance(by: 1)
      #expect(try await publish().status == 200)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key WHERE regions = 'CZ'") == 2)
    }
  }

  @Test("Invalid apps and authorities are rejected, and nothing is stored")
  func refused() async throws {
    let folder = try TemporaryFolder()
    let registry = try KeyServerRegistry(databaseFile: folder.path("keys.sqlite"))
    let good = P256.Signing.PrivateKey().publicKey.pemRepresentation
    for authority in [
      HealthAuthority(issuer: "", audience: "a"), HealthAuthority(issuer: "a", audience: ""),
      HealthAuthority(issuer: "a", audience: "b", publicKeysPEM: ["k": "no key"]),
      HealthAuthority(issuer: "a", audience: "b", publicKeysPEM: ["": good]),
      HealthAuthority(issuer: "a", audience: "b", jwksURL: URL(fileURLWithPath: "/etc/passwd")),
      HealthAuthority(issuer: "a", audience: "b", jwksURL: URL(string: "http://example.org/jwks")),
    ] {
      await #expect(throws: KeyServerError.self) { try await registry.add(authority) }
    }
    for app in [
      AuthorizedApp(id: "", regions: [], authorities: []),
      AuthorizedApp(id: "a", regions: ["pl"], authorities: []),
    ] {
      await #expect(throws: KeyServerError.self) { try await registry.add(app) }
    }
    #expect(try await registry.authorities().isEmpty)
    #expect(try await registry.apps().isEmpty)
  }

  @Test("A key on the authority's page is valid, and is refused when it is removed from the page")
  func pulled() async throws {
    let page = KeyPage()
    let (old, new) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    page.keys.withLock { $0 = ["old": old] }
    try await page.run { url in
      try await RunningKeyServer.run({
        $0.healthAuthorities = [HealthAuthority(issuer: "pulled", audience: "us", jwksURL: url)]
        $0.apps = [AuthorizedApp(id: "an.app", regions: ["PL"], authorities: ["pulled"])]
        $0.keyPullTimeoutSeconds = Int64(Patience.seconds)
      }) { server in
        try await server.untilIdle()
        let scene = PublishScene(server: server)
        func status(_ id: String, _ key: P256.Signing.PrivateKey) async throws -> UInt {
          let keys = scene.keys(1)
          let certificate = try scene.certificate(keys) {
            ($0.issuer, $0.audience, $0.keyID, $0.key) = ("pulled", "us", id, key)
          }
          return try await scene.publish(
            scene.request(keys, certificate: certificate) { $0.healthAuthorityID = "an.app" }
          ).status
        }
        try await server.server.pullAuthorityKeys()
        #expect(try await status("old", old) == 200)
        #expect(try await status("new", new) == 401)
        page.keys.withLock { $0 = ["new": new, "old": old] }
        try await server.server.pullAuthorityKeys()
        #expect(try await status("new", new) == 200)
        #expect(try await status("old", old) == 200)
        page.keys.withLock { $0 = ["new": new] }
        try await server.server.pullAuthorityKeys()
        #expect(try await status("new", new) == 200)
        #expect(try await status("old", old) == 401)
        // An unreadable page changes nothing.
        page.isBroken.withLock { $0 = true }
        try await server.server.pullAuthorityKeys()
        server.clock.advance(by: 30 * 86_400)
        #expect(try await status("new", new) == 200)
      }
    }
  }

  @Test("The running server refuses a key within a minute after it left the page")
  func unpublished() async throws {
    let page = KeyPage()
    let (old, new) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    page.keys.withLock { $0 = ["old": old, "new": new] }
    try await page.run { url in
      try await RunningKeyServer.run({
        $0.healthAuthorities = [HealthAuthority(issuer: "pulled", audience: "us", jwksURL: url)]
        $0.apps = [AuthorizedApp(id: "an.app", regions: ["PL"], authorities: ["pulled"])]
        $0.keyPullTimeoutSeconds = Int64(Patience.seconds)
      }) { server in
        try await server.untilIdle()
        let scene = PublishScene(server: server)
        func status(_ key: P256.Signing.PrivateKey) async throws -> UInt {
          let keys = scene.keys(1)
          let certificate = try scene.certificate(keys) {
            ($0.issuer, $0.audience, $0.keyID, $0.key) = ("pulled", "us", "old", key)
          }
          return try await scene.publish(
            scene.request(keys, certificate: certificate) { $0.healthAuthorityID = "an.app" }
          ).status
        }
        #expect(try await status(old) == 200)
        page.keys.withLock { $0 = ["new": new] }
        let before = page.requestCount.withLock { $0 }
        server.clock.advance(by: 60 - Double(KeyServerLimit.keyPullTimeoutSeconds))
        try await Patience.until { page.requestCount.withLock { $0 } > before }
        try await server.untilIdle()
        #expect(try await status(old) == 401)
      }
    }
  }

  @Test("A page that fails is one line in the log, with its answer, and works again later")
  func failingPage() async throws {
    let (page, log) = (KeyPage(), CollectedLog())
    page.keys.withLock { $0 = ["k": P256.Signing.PrivateKey()] }
    page.isBroken.withLock { $0 = true }
    try await page.run { url in
      try await RunningKeyServer.run(
        log: log,
        {
          $0.healthAuthorities = [HealthAuthority(issuer: "pulled", audience: "us", jwksURL: url)]
          $0.keyPullTimeoutSeconds = Int64(Patience.seconds)
        }
      ) { server in
        try await server.untilIdle()
        try await server.server.pullAuthorityKeys()
        let lines = log.errors.filter { $0.contains("key page of pulled") }
        #expect(lines.count == 1 && lines[0].contains("status 500"), "\(lines)")
        page.isBroken.withLock { $0 = false }
        try await server.server.pullAuthorityKeys()
        page.isBroken.withLock { $0 = true }
        try await server.server.pullAuthorityKeys()
        #expect(log.errors.filter { $0.contains("key page of pulled") }.count == 2)
      }
    }
  }

  /// True if certificates signed with `key` are accepted after the page was read.
  private func isAccepted(_ page: KeyPage, _ key: P256.Signing.PrivateKey) async throws -> Bool {
    var isAccepted = false
    let isSilent = page.isSilent.withLock { $0 }
    try await page.run { url in
      try await RunningKeyServer.run({
        $0.healthAuthorities = [HealthAuthority(issuer: "pulled", audience: "us", jwksURL: url)]
        $0.apps = [AuthorizedApp(id: "an.app", regions: ["PL"], authorities: ["pulled"])]
        if !isSilent {
          $0.keyPullTimeoutSeconds = Int64(Patience.seconds)
        }
      }) { server in
        try await server.server.pullAuthorityKeys()
        let scene = PublishScene(server: server)
        let keys = scene.keys(1)
        let certificate = try scene.certificate(keys) {
          ($0.issuer, $0.audience, $0.keyID, $0.key) = ("pulled", "us", "k", key)
        }
        let response = try await scene.publish(
          scene.request(keys, certificate: certificate) { $0.healthAuthorityID = "an.app" })
        isAccepted = response.status == 200
      }
    }
    return isAccepted
  }

  @Test("A page of up to 64 KiB is read, a longer one is not", arguments: [-1, 0, 1])
  func pageLength(offset: Int) async throws {
    let (page, key) = (KeyPage(), P256.Signing.PrivateKey())
    page.keys.withLock { $0 = ["k": key] }
    page.length.withLock { $0 = KeyServerLimit.keyPageBytesMax + offset }
    #expect(try await isAccepted(page, key) == (offset <= 0))
  }

  @Test("A page of up to fifty keys is read, one with more is not", arguments: [49, 50, 51])
  func pageKeys(count: Int) async throws {
    let (page, key) = (KeyPage(), P256.Signing.PrivateKey())
    page.keys.withLock { keys in
      for number in 1..<count { keys["\(number)"] = P256.Signing.PrivateKey() }
      keys["k"] = key
    }
    #expect(try await isAccepted(page, key) == (count <= KeyServerLimit.pulledKeysMax))
  }

  @Test("Keys of other types on a page do not hide the valid one")
  func otherKeys() async throws {
    let (page, key) = (KeyPage(), P256.Signing.PrivateKey())
    page.keys.withLock { $0 = ["k": key] }
    page.otherKeys.withLock {
      $0 = #"{"kty":"RSA","n":"0vx7","e":"AQAB","kid":"k"},{"kty":"oct","k":"AyM1"},"#
    }
    #expect(try await isAccepted(page, key))
  }

  @Test("A redirect by the page is not followed")
  func movedPage() async throws {
    let (page, other, key) = (KeyPage(), KeyPage(), P256.Signing.PrivateKey())
    other.keys.withLock { $0 = ["k": key] }
    try await other.run { url async throws in
      page.movedTo.withLock { $0 = url }
      #expect(try await isAccepted(page, key) == false)
    }
    #expect(page.requestCount.withLock { $0 } > 0)
    #expect(other.requestCount.withLock { $0 } == 0)
  }

  @Test("A page that times out is skipped", .timeLimit(.minutes(Patience.minutes)))
  func silentPage() async throws {
    let (page, key) = (KeyPage(), P256.Signing.PrivateKey())
    page.isSilent.withLock { $0 = true }
    #expect(try await isAccepted(page, key) == false)
  }
}

@Suite("Rotation of token keys")
struct TokenKeyTests {
  /// The content of the operator's key file.
  private final class KeyFile: Sendable {
    private let state: Mutex<(keys: [String: P256.Signing.PrivateKey], readCount: Int)>

    init(_ keys: [String: P256.Signing.PrivateKey]) { state = Mutex((keys, 0)) }

    var readCount: Int { state.withLock { $0.readCount } }
    func set(_ keys: [String: P256.Signing.PrivateKey]) { state.withLock { $0.keys = keys } }

    func read() throws -> [String: String] {
      try state.withLock { state in
        state.readCount += 1
        guard !state.keys.isEmpty else { throw CocoaError(.fileReadNoSuchFile) }
        return state.keys.mapValues(\.publicKey.pemRepresentation)
      }
    }
  }

  private func run(
    _ body: (RunningKeyServer, KeyFile) async throws -> Void
  ) async throws {
    let authority = Authority()
    let keyFile = KeyFile(["t1": authority.tokenKey])
    try await RunningKeyServer.run(
      authority: authority, { $0.readTokenPublicKeysPEM = { try keyFile.read() } }
    ) { try await body($0, keyFile) }
  }

  @Test(
    "A new key is accepted at once in both contracts; a removed key is rejected after a minute")
  func rotation() async throws {
    try await run { server, keyFile async throws in
      let new = P256.Signing.PrivateKey()
      func upload(_ keyID: String, _ key: P256.Signing.PrivateKey) async throws -> UInt {
        let token = try await server.authority.token(at: server.clock.now, key: key, keyID: keyID)
        return try await server.upload(server.request(server.keys(1), token: token)).status
      }
      let old = server.authority.tokenKey
      #expect(try await upload("t1", old) == 200)
      #expect(try await upload("t2", new) == 401)
      keyFile.set(["t1": old, "t2": new])
      server.clock.advance(by: 1)
      #expect(try await upload("t2", new) == 200)
      let scene = PublishScene(server: server)
      let keys = scene.keys(2)
      let certificate = try scene.certificate(keys) { ($0.keyID, $0.key) = ("t2", new) }
      #expect(try await scene.publish(scene.request(keys, certificate: certificate)).status == 200)
      let next = P256.Signing.PrivateKey()
      keyFile.set(["t2": new, "t3": next])
      server.clock.advance(by: 1)
      let others = scene.keys(2)
      let third = try scene.certificate(others) { ($0.keyID, $0.key) = ("t3", next) }
      #expect(try await scene.publish(scene.request(others, certificate: third)).status == 200)
      #expect(try await upload("t1", old) == 401)
    }
  }

  @Test("A key added right after a read of the registry is accepted, the next one after a second")
  func addedAfterRead() async throws {
    try await run { server, keyFile async throws in
      let old = server.authority.tokenKey
      let (second, third) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
      func upload(_ keyID: String, _ key: P256.Signing.PrivateKey) async throws -> UInt {
        let token = try await server.authority.token(at: server.clock.now, key: key, keyID: keyID)
        return try await server.upload(server.request(server.keys(1), token: token)).status
      }
      // The cached registry is too old now, so that this upload reads it.
      server.clock.advance(by: 61)
      #expect(try await upload("t1", old) == 200)
      keyFile.set(["t1": old, "t2": second])
      #expect(try await upload("t2", second) == 200)
      keyFile.set(["t2": second, "t3": third])
      #expect(try await upload("t3", third) == 401)
      server.clock.advance(by: 1)
      #expect(try await upload("t3", third) == 200)
      #expect(try await upload("t1", old) == 401)
    }
  }

  @Test("If the file is unreadable or empty, the known keys stay valid")
  func unreadable() async throws {
    try await run { server, keyFile async throws in
      #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      keyFile.set([:])
      server.clock.advance(by: 61)
      #expect(try await server.upload(server.request(server.keys(1))).status == 200)
    }
  }

  @Test("For many tokens with unknown keys the file is read once a second")
  func flood() async throws {
    try await run { server, keyFile async throws in
      try await server.untilIdle()
      #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      server.clock.advance(by: 1)
      let before = keyFile.readCount
      for number in 0..<20 {
        let token = try await server.authority.token(at: server.clock.now, keyID: "x\(number)")
        let request = try await server.request(server.keys(1), token: token)
        #expect(try await server.upload(request).status == 401)
      }
      #expect(keyFile.readCount == before + 1)
    }
  }
}

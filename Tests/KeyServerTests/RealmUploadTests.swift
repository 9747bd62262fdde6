// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import Synchronization
import TestSupport
import Testing
import UploadToken
import World

@testable import KeyServer

@Suite("Uploads of several authorities of one installation")
struct RealmUploadTests {
  private let realmKey = P256.Signing.PrivateKey()
  private let app = "org.example.other"

  private func realm(
    issuer: String = "other codes", apps: Set<String> = ["org.example.other"],
    regions: Set<String> = ["DE"],
    read: (@Sendable () throws -> [String: String])? = nil
  ) -> TokenAuthority {
    TokenAuthority(
      issuer: issuer, audience: "keys",
      publicKeysPEM: ["t1": realmKey.publicKey.pemRepresentation], readPublicKeysPEM: read,
      apps: apps, regions: regions)
  }

  /// An upload token of the realm, whose key has the id of that of the other authority.
  private func token(
    at now: Date, id: String = UUID().uuidString, key: P256.Signing.PrivateKey? = nil,
    keyID: String = "t1", isCanary: Bool = false
  ) async throws -> String {
    try await UploadTokenIssuer(
      keyID: keyID, privateKeyPEM: (key ?? realmKey).pemRepresentation, issuer: "other codes",
      audience: "keys"
    ).token(
      for: UploadGrant(
        tokenID: id, issuedAt: now, expiresAt: now.addingTimeInterval(1_800),
        isCanary: isCanary))
  }

  private func status(
    _ server: RunningKeyServer, token: String, app: String, region: String
  ) async throws -> UInt {
    let request = try await server.request(server.keys(3), token: token) {
      ($0.data.appPackageName, $0.data.regions) = (app, [region])
    }
    return try await server.upload(request).status
  }

  @Test("A token opens the apps and regions of its own authority, and of no other")
  func tokens() async throws {
    try await RunningKeyServer.run({ $0.realms = [realm()] }) { server in
      let own = PublishScene.app
      for (isRealm, app, region, expected) in [
        (true, app, "DE", 200), (true, app, "PL", 403), (true, own, "PL", 403),
        (true, own, "DE", 403), (false, app, "DE", 403), (false, own, "DE", 403),
        (false, own, "PL", 200), (false, own, "CZ", 200),
      ] as [(Bool, String, String, UInt)] {
        let now = server.clock.now
        let token =
          isRealm ? try await token(at: now) : try await server.authority.token(at: now)
        let status = try await status(server, token: token, app: app, region: region)
        #expect(status == expected, "\(isRealm) \(app) \(region)")
      }
    }
  }

  @Test("A token of another authority's key, or of the canary, is refused for the realm")
  func foreignKeys() async throws {
    try await RunningKeyServer.run({
      ($0.realms, $0.acceptsCanary) = ([realm()], true)
    }) { server in
      let now = server.clock.now
      // The key of the server's own authority has the same id.
      let forged = try await token(at: now, key: server.authority.tokenKey)
      #expect(try await status(server, token: forged, app: app, region: "DE") == 401)
      let canary = try await token(at: now, isCanary: true)
      for (app, region) in [(app, "DE"), (CanaryUploads.app, CanaryUploads.region)] {
        #expect(try await status(server, token: canary, app: app, region: region) == 403)
      }
    }
  }

  @Test("Tokens of two authorities with one id are two tokens")
  func equalTokenIDs() async throws {
    try await RunningKeyServer.run({ $0.realms = [realm()] }) { server in
      let (now, id) = (server.clock.now, UUID().uuidString)
      let own = try await server.authority.token(at: now, id: id)
      let other = try await token(at: now, id: id)
      #expect(try await status(server, token: own, app: PublishScene.app, region: "PL") == 200)
      for expected: UInt in [200, 401] {
        #expect(try await status(server, token: other, app: app, region: "DE") == expected)
      }
    }
  }

  @Test("A certificate opens the apps of its own authority, and its keys get their regions")
  func certificates() async throws {
    try await RunningKeyServer.run({ $0.realms = [realm()] }) { server in
      let scene = PublishScene(server: server)
      for (isRealm, app, expected) in [
        (true, app, 200), (true, PublishScene.app, 401), (false, app, 401),
        (false, PublishScene.app, 200),
      ] as [(Bool, String, UInt)] {
        let keys = scene.keys(3)
        let certificate = try scene.certificate(keys) {
          if isRealm { ($0.issuer, $0.key) = ("other codes", realmKey) }
        }
        let request = try scene.request(keys, certificate: certificate) {
          $0.healthAuthorityID = app
        }
        #expect(try await scene.publish(request).status == expected, "\(isRealm) \(app)")
      }
      for regions in ["DE", "CZ,PL"] {
        let count = try server.count(
          "SELECT count(*) FROM diagnosis_key WHERE regions = '\(regions)'")
        #expect(count == 3, "\(regions)")
      }
    }
  }

  @Test("Rotated keys of a realm are read, and unreadable ones of a realm leave the others valid")
  func rotation() async throws {
    let next = P256.Signing.PrivateKey()
    let keys = Mutex<[String: String]?>(["t1": realmKey.publicKey.pemRepresentation])
    let shared = SendableKeys(keys)
    let realm = realm {
      guard let keys = shared.keys.withLock({ $0 }) else { throw CocoaError(.fileReadUnknown) }
      return keys
    }
    let log = CollectedLog()
    try await RunningKeyServer.run(log: log, { $0.realms = [realm] }) { server in
      shared.keys.withLock { $0?["t2"] = next.publicKey.pemRepresentation }
      server.clock.advance(by: KeyServerLimit.registryAgeSecondsMax)
      for isReadable in [true, false] {
        if !isReadable { shared.keys.withLock { $0 = nil } }
        server.clock.advance(by: KeyServerLimit.registryAgeSecondsMax)
        let now = server.clock.now
        let rotated = try await token(at: now, key: next, keyID: "t2")
        #expect(try await status(server, token: rotated, app: app, region: "DE") == 200)
        let own = try await server.authority.token(at: now)
        #expect(try await status(server, token: own, app: PublishScene.app, region: "PL") == 200)
      }
      let warnings = log.lines.filter { $0.contains("token keys not read") }
      #expect(!warnings.isEmpty && warnings.allSatisfy { $0.contains("other codes") })
    }
  }

  private final class SendableKeys: Sendable {
    let keys: Mutex<[String: String]?>

    init(_ keys: consuming Mutex<[String: String]?>) { self.keys = keys }
  }

  @Test("A stored app neither extends an app of a realm nor uses its authority")
  func storedApps() async throws {
    let folder = try TemporaryFolder()
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    configuration.realms = [realm()]
    // Stored before the realm was added.
    let earlier = try KeyServerRegistry(databaseFile: configuration.databaseFile)
    let foreign = P256.Signing.PrivateKey()
    try await earlier.add(
      HealthAuthority(
        issuer: "other codes", audience: "keys",
        publicKeysPEM: ["f1": foreign.publicKey.pemRepresentation]))
    for id in [app, "a.third"] {
      try await earlier.add(
        AuthorizedApp(id: id, regions: ["PL"], authorities: ["other codes"]))
    }
    let registry = try KeyServerRegistry(
      databaseFile: configuration.databaseFile, configuration: configuration)
    for app in [
      AuthorizedApp(id: app, regions: ["PL"], authorities: ["codes"]),
      AuthorizedApp(id: "another", regions: ["PL"], authorities: ["other codes"]),
    ] {
      await #expect(throws: KeyServerError.self) { try await registry.add(app) }
    }
    try await RunningKeyServer.run(folder: folder, { $0.realms = [realm()] }) { server in
      for (app, key, keyID) in [
        (app, realmKey, "t1"), ("a.third", realmKey, "t1"), (app, foreign, "f1"),
      ] {
        let token = try await token(at: server.clock.now, key: key, keyID: keyID)
        #expect(try await status(server, token: token, app: app, region: "PL") >= 401, "\(app)")
      }
      let token = try await token(at: server.clock.now)
      #expect(try await status(server, token: token, app: app, region: "DE") == 200)
    }
  }

  @Test("An app that was stored before a realm publishes in its other regions only")
  func storedRegions() async throws {
    let folder = try TemporaryFolder()
    let de = ExportConfiguration(filenameRoot: "de", region: "DE")
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    configuration.furtherExports = [de]
    let earlier = try KeyServerRegistry(
      databaseFile: configuration.databaseFile, configuration: configuration)
    for (id, regions) in [("two.regions", ["DE", "PL"]), ("one.region", ["DE"])] {
      try await earlier.add(
        AuthorizedApp(id: id, regions: Set(regions), authorities: ["codes"]))
    }
    configuration.realms = [realm()]
    let registry = try KeyServerRegistry(
      databaseFile: configuration.databaseFile, configuration: configuration)
    for regions in [["DE"], ["DE", "PL"]] as [Set<String>] {
      await #expect(throws: KeyServerError.self) {
        try await registry.add(AuthorizedApp(id: "new", regions: regions, authorities: ["codes"]))
      }
    }
    try await registry.add(AuthorizedApp(id: "new", regions: ["PL"], authorities: ["codes"]))
    let log = CollectedLog()
    try await RunningKeyServer.run(
      folder: folder, log: log, { ($0.furtherExports, $0.realms) = ([de], [realm()]) }
    ) { server in
      for (app, region, expected) in [
        ("two.regions", "DE", 403), ("two.regions", "PL", 200), ("one.region", "DE", 403),
        ("one.region", "PL", 403),
      ] as [(String, String, UInt)] {
        let token = try await server.authority.token(at: server.clock.now)
        let status = try await status(server, token: token, app: app, region: region)
        #expect(status == expected, "\(app) \(region)")
      }
      let scene = PublishScene(server: server)
      for (app, expected) in [("two.regions", 200), ("one.region", 401)] as [(String, UInt)] {
        let request = try scene.request(scene.keys(3)) { $0.healthAuthorityID = app }
        #expect(try await scene.publish(request).status == expected, "\(app)")
      }
      #expect(
        try server.count("SELECT count(*) FROM diagnosis_key WHERE regions LIKE '%DE%'") == 0)
    }
    let lines = log.errors.filter { $0.contains("stored app") }
    #expect(lines.count == 1 && lines[0].contains("app remove"), "\(log.errors)")
  }

  @Test("A revision token is for uploads of the authority that it comes from")
  func revisionTokens() async throws {
    let third = realm(issuer: "third", apps: ["third.app"], regions: ["SK"])
    try await RunningKeyServer.run({ $0.realms = [realm(), third] }) { server in
      let scene = PublishScene(server: server)
      let authorities = [
        ("codes", PublishScene.app), ("other codes", app), ("third", "third.app"),
      ]
      func publish(
        _ keys: [PublishKey], as type: String, of authority: (issuer: String, app: String),
        token: String? = nil
      ) async throws -> Published {
        let certificate = try scene.certificate(keys) {
          ($0.reportType, $0.issuer) = (type, authority.issuer)
          if authority.issuer != "codes" { $0.key = realmKey }
        }
        return try await scene.publish(
          scene.request(keys, certificate: certificate, token: token) {
            $0.healthAuthorityID = authority.app
          })
      }
      for own in authorities {
        let keys = scene.keys(3)
        let token = try await publish(keys, as: "likely", of: own).body.revisionToken
        for other in authorities where other != own {
          let refused = try await publish(keys, as: "confirmed", of: other, token: token)
          #expect(refused.code == .invalidRevisionToken, "\(own) \(other)")
        }
        let revised = try await publish(keys, as: "confirmed", of: own, token: token)
        #expect((revised.status, revised.code) == (200, nil), "\(own)")
      }
    }
  }

  @Test("A realm sees the padding of the files of its own regions, and others that of the others")
  func padding() throws {
    let folder = try TemporaryFolder()
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    configuration.furtherExports = [
      ExportConfiguration(filenameRoot: "de", region: "DE"),
      ExportConfiguration(filenameRoot: "sk", region: "SK"),
    ]
    configuration.realms = [realm()]
    let roots = configuration.rootsOfRealms
    #expect(roots == ["other codes": ["de"]])
    for (issuer, shown) in [("other codes", ["de"]), ("codes", ["", "sk"])] {
      let counts = FileCounts(
        files: [], root: "", closedUntil: nil, shownRoots: roots[issuer], hiddenRoots: ["de"])
      #expect(["", "de", "sk"].filter(counts.shows) == shown)
    }
  }

  @Test("Authorities that share an issuer, an app or a region are refused at the start")
  func shared() throws {
    let folder = try TemporaryFolder()
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    configuration.realms = [realm(), realm(issuer: "third", apps: ["third.app"], regions: ["SK"])]
    try configuration.checked()
    for wrong in [
      realm(issuer: "Codes", apps: ["b"], regions: ["AT"]), realm(issuer: "c", regions: ["AT"]),
      realm(issuer: "c", apps: ["Org.Example.Other"], regions: ["AT"]),
      realm(issuer: "c", apps: [PublishScene.app], regions: ["AT"]),
      realm(issuer: "c", apps: ["b"]), realm(issuer: "c", apps: ["b"], regions: ["PL"]),
      realm(issuer: "c", apps: [], regions: ["AT"]), realm(issuer: "c", apps: ["b"], regions: []),
      realm(issuer: "c", apps: ["b"], regions: ["ZZ"]),
      realm(issuer: "c", apps: ["b"], regions: ["de"]),
      realm(issuer: "c", apps: [CanaryUploads.app], regions: ["AT"]),
    ] {
      var refused = configuration
      refused.realms.append(wrong)
      #expect(throws: KeyServerError.self, "\(wrong)") { try refused.checked() }
    }
    for (app, isValid) in [
      (AuthorizedApp(id: "x", regions: ["PL"], authorities: ["third"]), false),
      (AuthorizedApp(id: "x", regions: ["PL", "DE"], authorities: ["codes"]), false),
      (AuthorizedApp(id: "x", regions: ["PL"], authorities: ["codes"]), true),
    ] {
      var further = configuration
      further.apps = [app]
      if isValid {
        try further.checked()
      } else {
        #expect(throws: KeyServerError.self, "\(app)") { try further.checked() }
      }
    }
    configuration.publish.defaultRegion = "CZ"
    try configuration.checked()
    configuration.publish.defaultRegion = "DE"
    #expect(throws: KeyServerError.self) { try configuration.checked() }
  }
}

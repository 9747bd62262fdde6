// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import ServerStorage
import TestSupport
import Testing
import UploadToken
import World

@testable import KeyServer
@testable import KeyServerAPI

@Suite("Used tokens and certificates")
struct UsedTokenTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run { try await body(PublishScene(server: $0)) }
  }

  /// Moves the clock, and removes expired data.
  private func wait(_ seconds: TimeInterval, _ scene: PublishScene) async throws {
    scene.server.clock.advance(by: seconds)
    try await scene.server.server.removeOld()
  }

  @Test(
    "A repeated upload with a reissued certificate gets the first response until the certificate expires",
    arguments: [TimeInterval](arrayLiteral: 60, 3_000, 7_200, KeyServerLimit.reissueSecondsMax - 1))
  func issuedAgain(seconds: TimeInterval) async throws {
    try await run { scene in
      let keys = scene.keys(2)
      func request() throws -> PublishRequest {
        try scene.request(
          keys,
          certificate: scene.certificate(keys) { ($0.id, $0.reportType) = ("an id", "likely") })
      }
      let first = try await scene.publish(request())
      try await wait(seconds, scene)
      let again = try await scene.publish(request())
      #expect((first.status, again.status) == (200, 200))
      #expect(again.body == first.body)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 1)
      let counted = "SELECT sum(count) FROM statistic WHERE kind = 'uploads'"
      #expect(try scene.server.count(counted) == 1)
      // The certificate is used up for other uploads, also with the revision token.
      var other = try request()
      other.revisionToken = first.body.revisionToken
      #expect(try await scene.publish(other).code == .certificateInvalid)
      #expect(
        try await scene.publish(keys, as: "confirmed", token: first.body.revisionToken).status
          == 200)
    }
  }

  @Test(
    "A used token is forgotten a day after it has expired, rounded up to the hour")
  func forgotten() throws {
    let noon = RunningKeyServer.start
    let (reissue, setBack) = (90_000.0, 86_400.0)
    #expect(
      (KeyServerLimit.reissueSecondsMax, KeyServerLimit.clockSetBackSecondsMax) == (
        reissue, setBack
      ))
    func end(_ lifetime: TimeInterval, used: TimeInterval = 0) -> TimeInterval {
      UsedToken(
        UploadGrant(tokenID: "a", issuedAt: noon, expiresAt: noon + lifetime), issuer: "codes",
        at: noon + used, keys: StoreScene.databaseKeys
      ).keptUntil.timeIntervalSince(noon)
    }
    #expect(end(1_800) == reissue + setBack)
    #expect(end(1_800, used: 1) == reissue + setBack + 3_600)
    #expect(end(reissue) == reissue + setBack)
    #expect(end(reissue + 1) == reissue + setBack + 3_600)
  }

  /// The same certificate in a request of either contract.
  private struct TwoRequests {
    let publish: PublishRequest
    let upload: UploadRequest
  }

  private func requests(_ scene: PublishScene) async throws -> TwoRequests {
    let keys = scene.keys(2)
    let certificate = try scene.certificate(keys)
    let upload = try await scene.server.request(
      keys.map {
        UploadKey(
          key: $0.key, rollingStartNumber: UInt32($0.rollingStartNumber),
          transmissionRisk: $0.transmissionRisk)
      }, token: certificate
    ) { $0.data.hmackey = scene.secret.base64EncodedString() }
    return TwoRequests(publish: try scene.request(keys, certificate: certificate), upload: upload)
  }

  @Test("A certificate that is used in one contract is rejected in the other")
  func eitherContract() async throws {
    try await run { scene in
      let first = try await requests(scene)
      #expect(try await scene.publish(first.publish).status == 200)
      #expect(try await scene.server.upload(first.upload).status == 401)
      let second = try await requests(scene)
      #expect(try await scene.server.upload(second.upload).status == 200)
      #expect(try await scene.publish(second.publish).code == .certificateInvalid)
      // A repeated request gets its response in the contract in which it was accepted.
      #expect(try await scene.publish(first.publish).status == 200)
      #expect(try await scene.server.upload(second.upload).status == 200)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 2)
    }
  }

  @Test("Of concurrent requests to both contracts with one certificate exactly one is accepted")
  func bothAtOnce() async throws {
    try await run { scene in
      for _ in 0..<8 {
        let both = try await requests(scene)
        async let published = scene.publish(both.publish).status
        async let uploaded = scene.server.upload(both.upload).status
        let statuses = try await [published, uploaded]
        #expect(statuses.sorted() == [200, 401])
      }
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 8)
    }
  }

  @Test("Expired tokens are removed whatever the first byte of their digest, and no others")
  func everyPart() async throws {
    #expect(256 % SQLiteLimit.partsOfTables == 0)
    let folder = try TemporaryFolder()
    let store = try SQLiteKeyStore(file: folder.path("keys.sqlite"))
    let now = StoreScene.now.unixSecond
    try await store.database.pool.write { db in
      for first in 0..<256 {
        for (rest, end) in [(UInt8(0), now), (1, now + 1), (254, now + 1), (255, now)] {
          try db.execute(
            sql:
              "INSERT INTO upload (token_digest, kept_until, upload_digest, response) VALUES (?, ?, ?, ?)",
            arguments: [
              Data([UInt8(first)] + [UInt8](repeating: rest, count: 31)), end, Data(count: 32),
              Data(),
            ])
        }
      }
    }
    try await store.removeOld(RetentionLimits(at: StoreScene.now))
    let left = try await store.database.pool.read {
      try Int64.fetchAll($0, sql: "SELECT kept_until FROM upload")
    }
    #expect(left == [Int64](repeating: now + 1, count: 512))
  }

  @Test("Two servers with different secrets store the same token and upload under different names")
  func keyed() throws {
    let now = RunningKeyServer.start
    let grant = UploadGrant(tokenID: "1", issuedAt: now, expiresAt: now)
    let request = PublishRequest(
      temporaryExposureKeys: [], healthAuthorityID: "app", verificationPayload: "", hmacKey: "")
    let keys = [7, 7, 8].map { DatabaseKeys(Data(repeating: $0, count: 32)) }
    let tokens = keys.map { UsedToken(grant, issuer: "codes", at: now, keys: $0).digest }
    let uploads = keys.map { UploadDigest.of(request, keys: [], under: $0) }
    for digests in [tokens, uploads] {
      #expect(digests[0] == digests[1] && digests[0] != digests[2])
    }
    // Nothing that can be computed without the secret.
    let text = ["certificate 1", "jti", "codes", "1"].map { "\($0.utf8.count):\($0)" }.joined()
    #expect(tokens[0] != Data(SHA256.hash(data: Data(text.utf8))))
  }

  @Test("The same token id of two issuers is two tokens")
  func issuers() {
    let now = RunningKeyServer.start
    let grant = UploadGrant(tokenID: "1", issuedAt: now, expiresAt: now)
    let names = ["a", "b"].map {
      UsedToken(grant, issuer: $0, at: now, keys: StoreScene.databaseKeys).digest
    }
    #expect(names[0] != names[1])
  }
}

/// The digests are stored, so the hashed text must not change.
@Suite("Digests of uploads and tokens") struct DigestTests {
  private static func digest(_ parts: [String], _ purpose: String) -> Data {
    let secret = SymmetricKey(data: Data(repeating: 7, count: 32))
    let key = HMAC<SHA256>.authenticationCode(for: Data(purpose.utf8), using: secret)
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    return Data(
      HMAC<SHA256>.authenticationCode(
        for: Data(text.utf8), using: SymmetricKey(data: Data(key))))
  }

  @Test(
    "The digest of a publish request covers app, flags, onset, revision token and the sorted keys"
  )
  func publish() {
    let keys = [
      PublishKey(
        key: "BBBBBBBBBBBBBBBBBBBBBA==", rollingStartNumber: 2_999_808, rollingPeriod: 144,
        transmissionRisk: 7),
      PublishKey(key: "AAAAAAAAAAAAAAAAAAAAAA==", rollingStartNumber: -5, rollingPeriod: 0),
      PublishKey(key: "AAAAAAAAAAAAAAAAAAAAAA==", rollingStartNumber: 10, rollingPeriod: 99),
      PublishKey(key: "", rollingStartNumber: 0, rollingPeriod: 0, transmissionRisk: 0),
    ]
    let request = PublishRequest(
      temporaryExposureKeys: keys, healthAuthorityID: "pl.gov.example",
      verificationPayload: "a.b.c", hmacKey: "AAAA", symptomOnsetInterval: 2_999_000,
      traveler: true, revisionToken: "zażółć", padding: "x")
    let digest = UploadDigest.of(
      request, keys: keys.map { UploadedKey($0) }, under: StoreScene.databaseKeys)
    #expect(
      digest
        == Self.digest(
          [
            "publish 1", "pl.gov.example", "true", "2999000", "zażółć", ".0.0.0",
            "AAAAAAAAAAAAAAAAAAAAAA==.-5.0.0", "AAAAAAAAAAAAAAAAAAAAAA==.10.99.0",
            "BBBBBBBBBBBBBBBBBBBBBA==.2999808.144.7",
          ], "uploads"))
    let reversed = UploadDigest.of(
      request, keys: keys.reversed().map { UploadedKey($0) }, under: StoreScene.databaseKeys)
    #expect(reversed == digest)
  }

  @Test(
    "The digest of a certificate covers issuer and jti, or the signed text if it has no jti",
    arguments: [("j-1", ["jti", "codes", "j-1"]), (nil, ["signed", "head.claims"])])
  func certificate(id: String?, name: [String]) async throws {
    let (key, now) = (P256.Signing.PrivateKey(), RunningKeyServer.start)
    let authority = try CertificateAuthority(issuer: "codes", audience: "keys").adding(
      keyID: "v1", publicKeyPEM: key.publicKey.pemRepresentation)
    let issuer = CertificateIssuer(
      keys: try SigningKeys([SigningKey(keyID: "v1", privateKeyPEM: key.pemRepresentation)]),
      issuer: "codes", audience: "keys")
    let text = try issuer.text(
      of: VerificationCertificate(
        certificateID: id, issuedAt: now, expiresAt: now + 900, reportType: "confirmed",
        symptomOnsetInterval: nil, keyHMAC: Data(repeating: 1, count: 32)), at: now)
    let verified = try CertificateVerifier(authorities: [authority]).verified(
      UnverifiedCertificate(text), at: now)
    let keys = StoreScene.databaseKeys
    // Only the text before the signature counts: a signature has several encodings.
    let used = UsedToken(
      verified, text: id == nil ? "head.claims.signature" : text, at: now, keys: keys)
    #expect(used.digest == Self.digest(["certificate 1"] + name, "tokens"))
    let whole = UsedToken(verified, text: "no dot in it", at: now, keys: keys)
    #expect(
      id != nil
        || whole.digest == Self.digest(["certificate 1", "signed", "no dot in it"], "tokens"))
  }
}

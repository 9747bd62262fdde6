import Foundation
import GRDB
import TestSupport
import Testing
import UploadToken

@testable import KeyServer
@testable import KeyServerAPI

/// Documentation/KeyServer.md 7.7: what is spent stays spent, whatever it comes in.
@Suite("Key server: a used token stays used, issued anew or brought to the other contract")
struct SpentTokenTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run { try await body(PublishScene(server: $0)) }
  }

  /// Moves the clock, and removes what is over by then.
  private func wait(_ seconds: TimeInterval, _ scene: PublishScene) async throws {
    scene.server.clock.advance(by: seconds)
    try await scene.server.server.removeOld()
  }

  @Test(
    "5.8 A lost answer is given again under a certificate that was issued anew, up to its last second",
    arguments: [TimeInterval](arrayLiteral: 60, 3_000, 7_200, KeyServerLimit.reissueSecondsMax - 1))
  func issuedAnew(seconds: TimeInterval) async throws {
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
      #expect(again.said == first.said)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 1)
      let counted = "SELECT sum(count) FROM statistic WHERE kind = 'uploads'"
      #expect(try scene.server.count(counted) == 1)
      // It is good for that upload only, also together with the revision token.
      var other = try request()
      other.revisionToken = first.said.revisionToken
      #expect(try await scene.publish(other).code == .certificateInvalid)
      #expect(
        try await scene.publish(keys, as: "confirmed", token: first.said.revisionToken).status
          == 200)
    }
  }

  @Test(
    "A used token is forgotten a day after the last second in which it may be good, by the hour")
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
        at: noon + used
      ).keptUntil.timeIntervalSince(noon)
    }
    #expect(end(1_800) == reissue + setBack)
    #expect(end(1_800, used: 1) == reissue + setBack + 3_600)
    #expect(end(reissue) == reissue + setBack)
    #expect(end(reissue + 1) == reissue + setBack + 3_600)
  }

  /// What one certificate is brought with, to either contract.
  private struct Both {
    let publish: PublishRequest
    let upload: UploadRequest
  }

  private func both(_ scene: PublishScene) async throws -> Both {
    let keys = scene.keys(2)
    let certificate = try scene.certificate(keys)
    let upload = try await scene.server.request(
      keys.map {
        UploadKey(
          key: $0.key, rollingStartNumber: UInt32($0.rollingStartNumber),
          transmissionRisk: $0.transmissionRisk)
      }, token: certificate
    ) { $0.data.hmackey = scene.secret.base64EncodedString() }
    return Both(publish: try scene.request(keys, certificate: certificate), upload: upload)
  }

  @Test("What is used up in one contract is used up in the other")
  func eitherContract() async throws {
    try await run { scene in
      let first = try await both(scene)
      #expect(try await scene.publish(first.publish).status == 200)
      #expect(try await scene.server.upload(first.upload).status == 401)
      let second = try await both(scene)
      #expect(try await scene.server.upload(second.upload).status == 200)
      #expect(try await scene.publish(second.publish).code == .certificateInvalid)
      // Each of them has its answer again where it was taken.
      #expect(try await scene.publish(first.publish).status == 200)
      #expect(try await scene.server.upload(second.upload).status == 200)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 2)
    }
  }

  @Test("Brought to both contracts at once it is taken by exactly one")
  func bothAtOnce() async throws {
    try await run { scene in
      for _ in 0..<8 {
        let both = try await both(scene)
        async let published = scene.publish(both.publish).status
        async let uploaded = scene.server.upload(both.upload).status
        let statuses = try await [published, uploaded]
        #expect(statuses.sorted() == [200, 401])
      }
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 8)
    }
  }

  @Test("Tokens that are over go, whatever their digest begins with, and no other")
  func everyPart() async throws {
    #expect(256 % SQLiteLimit.partsOfTokens == 0)
    let folder = try TemporaryFolder()
    let store = try SQLiteKeyStore(file: folder.path("keys.sqlite"))
    let now = StoreScene.now.wholeSeconds
    try await store.pool.write { db in
      for first in 0..<256 {
        for (rest, end) in [(UInt8(0), now), (1, now + 1), (254, now + 1), (255, now)] {
          try db.execute(
            sql:
              "INSERT INTO upload (token_digest, kept_until, upload_digest, answer) VALUES (?, ?, ?, ?)",
            arguments: [
              Data([UInt8(first)] + [UInt8](repeating: rest, count: 31)), end, Data(count: 32),
              Data(),
            ])
        }
      }
    }
    try await store.removeOld(Retention(at: StoreScene.now))
    let left = try await store.pool.read {
      try Int64.fetchAll($0, sql: "SELECT kept_until FROM upload")
    }
    #expect(left == [Int64](repeating: now + 1, count: 512))
  }

  @Test("Names of two issuers are two names")
  func issuers() {
    let now = RunningKeyServer.start
    let grant = UploadGrant(tokenID: "1", issuedAt: now, expiresAt: now)
    let names = ["a", "b"].map { UsedToken(grant, issuer: $0, at: now).digest }
    #expect(names[0] != names[1])
  }
}

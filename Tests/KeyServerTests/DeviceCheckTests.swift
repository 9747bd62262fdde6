import Crypto
import Foundation
import Hummingbird
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

@Suite("Seed 4: device check")
struct DeviceCheckTests {
  private let key = P256.Signing.PrivateKey()

  /// A server that asks a stand-in authority, which says `says`.
  private func run(
    _ says: DeviceCheckStandIn.Says, _ change: (inout KeyServerConfiguration) -> Void = { _ in },
    _ body: (RunningKeyServer, DeviceCheckStandIn) async throws -> Void
  ) async throws {
    try await DeviceCheckStandIn.run(publicKey: key.publicKey, says: says) { authority in
      let url = await authority.url
      try await RunningKeyServer.run({
        $0.deviceVerificationPlatforms = ["ios"]
        $0.deviceCheck = DeviceCheckConfiguration(
          baseURL: url, teamID: "TEAM", keyID: "K1", privateKeyPEM: key.pemRepresentation)
        change(&$0)
      }) { server in try await body(server, authority) }
    }
  }

  /// A request with a proof, made `age` seconds ago.
  private func request(
    _ server: RunningKeyServer, age: TimeInterval = 0, keys: [UploadKey]? = nil,
    transactionID: String? = nil
  ) async throws -> UploadRequest {
    try await server.request(keys ?? server.keys()) { request in
      let proof = DeviceVerificationPayload(
        deviceToken: Data("device".utf8),
        transactionID: transactionID
          ?? DeviceVerificationPayload.transactionID(
            appPackageName: request.data.appPackageName, keys: request.data.temporaryExposureKeys,
            regions: request.data.regions),
        timestampMilliseconds: Int64((server.clock.now.timeIntervalSince1970 - age) * 1_000))
      request.data.deviceVerificationPayload = proof.base64
    }
  }

  @Test("A genuine device's upload is taken, and the authority was asked as it documents")
  func genuine() async throws {
    try await run(.yes) { server, authority in
      #expect(try await server.upload(request(server)).status == 200)
      let question = try #require(await authority.questions.first)
      #expect(question.path == "/v1/validate_device_token")
      #expect(question.isSignedByTeam)
      #expect(question.deviceToken == Data("device".utf8).base64EncodedString())
      #expect(question.transactionID.count == 64)
      #expect(question.timestamp == Int64(server.clock.now.timeIntervalSince1970) * 1_000)
    }
  }

  @Test("D15 The authority's no is awaited and enforced with 403, and the token stays good")
  func notGenuine() async throws {
    try await run(.no) { server, authority in
      let request = try await request(server)
      let answer = try await server.upload(request)
      #expect((answer.status, answer.errorStatus) == (403, "PERMISSION_DENIED"))
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
      await authority.now(says: .yes)
      #expect(try await server.upload(request).status == 200)
    }
  }

  @Test(
    "Where the authority does not know us, is overloaded or broken, the phone is to come again",
    arguments: [DeviceCheckStandIn.Says.notYou, .tooMany, .broken, .silent])
  func unavailable(says: DeviceCheckStandIn.Says) async throws {
    try await run(says) { server, _ in
      let answer = try await server.upload(request(server))
      #expect((answer.status, answer.errorStatus) == (503, "UNAVAILABLE"))
      #expect(answer.headers["retry-after"] != nil)
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
    }
  }

  /// Documentation/Serving.md 9.5.
  @Test("Who says that another is to be asked is not believed, and the other is shown nothing")
  func elsewhere() async throws {
    try await run(.elsewhere) { server, authority async throws in
      try await DeviceCheckStandIn.run(publicKey: key.publicKey, says: .yes) { other async throws in
        await authority.now(sendsTo: other.url)
        #expect(try await server.upload(request(server)).status == 503)
        #expect(await authority.questions.count == 1)
        #expect(await other.questions.isEmpty)
      }
    }
  }

  @Test(
    "So much of the authority's answer is read; a longer one is no answer",
    arguments: [(-1, UInt(200)), (0, 200), (1, 503)])
  func answerLength(offset: Int, status: UInt) async throws {
    try await run(.yes) { server, authority async throws in
      await authority.now(answerBytes: KeyServerLimit.deviceCheckAnswerBytesMax + offset)
      #expect(try await server.upload(request(server)).status == status)
    }
  }

  @Test("What failed because the authority was silent counts against nobody")
  func unavailableIsFree() async throws {
    try await run(.broken, { $0.uploadAttempts = 2 }) { server, authority async throws in
      for _ in 0..<3 { #expect(try await server.upload(request(server)).status == 503) }
      await authority.now(says: .yes)
      #expect(try await server.upload(request(server)).status == 200)
    }
  }

  @Test("D15 An authority that cannot be reached is 503, never a yes")
  func unreachable() async throws {
    try await RunningKeyServer.run({
      $0.deviceVerificationPlatforms = ["ios"]
      $0.deviceCheck = DeviceCheckConfiguration(
        baseURL: URL(fileURLWithPath: "/"), teamID: "TEAM", keyID: "K1",
        privateKeyPEM: key.pemRepresentation)
    }) { server in
      let answer = try await server.upload(request(server))
      #expect(answer.status == 503)
    }
  }

  @Test("No proof, another's proof or one that cannot be read is refused without asking")
  func notBound() async throws {
    try await run(.yes) { server, authority in
      let none = try await server.request(server.keys())
      #expect(try await server.upload(none).status == 403)
      let others = try await request(server, transactionID: String(repeating: "a", count: 64))
      #expect(try await server.upload(others).status == 403)
      var unreadable = try await request(server)
      unreadable.data.deviceVerificationPayload = "e30="
      #expect(try await server.upload(unreadable).status == 400)
      var otherKeys = try await request(server)
      otherKeys.data.temporaryExposureKeys = server.keys()
      #expect(try await server.upload(otherKeys).status == 403)
      #expect(await authority.questions.isEmpty)
    }
  }

  @Test(
    "A proof may be ten minutes old or ahead and no more",
    arguments: [(-601, 403), (-600, 200), (-599, 200), (599, 200), (600, 200), (601, 403)])
  func freshness(age: Int, status: UInt) async throws {
    try await run(.yes) { server, _ in
      let answer = try await server.upload(request(server, age: TimeInterval(age)))
      #expect(answer.status == status)
    }
  }

  @Test("An upload that is in is answered again even when its proof has gone stale")
  func replayAfterProof() async throws {
    try await run(.yes) { server, authority in
      let request = try await request(server)
      #expect(try await server.upload(request).status == 200)
      server.clock.advance(by: 1_200)
      #expect(try await server.upload(request).status == 200)
      #expect(await authority.questions.count == 1)
    }
  }

  @Test(
    "D16 Without an authority to ask, the proof must still be for these keys, and made just now")
  func noAuthority() async throws {
    try await RunningKeyServer.run({ $0.deviceVerificationPlatforms = ["ios"] }) {
      server async throws in
      #expect(try await server.upload(server.request(server.keys())).status == 403)
      let others = try await request(server, transactionID: String(repeating: "a", count: 64))
      #expect(try await server.upload(others).status == 403)
      for (age, status) in [(601, 403), (600, 200)] as [(TimeInterval, UInt)] {
        #expect(try await server.upload(request(server, age: age)).status == status)
      }
    }
  }

  @Test("A server that is told nothing about devices needs a proof of iOS")
  func byDefault() {
    let nowhere = URL(fileURLWithPath: "/dev/null")
    let configuration = KeyServerConfiguration(
      port: 0, databaseFile: nowhere, exportFolder: nowhere, regions: [], appPackages: [],
      tokenIssuer: "a", tokenAudience: "b", tokenPublicKeysPEM: [:], exportSigners: [],
      region: "PL", deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
    #expect(configuration.deviceVerificationPlatforms == ["ios"])
  }

  @Test("An app that is not the team's is refused without asking, one that is goes on")
  func bundles() async throws {
    for (bundles, status, questions) in [
      (["another.app"], 403, 0), (["another.app", "pl.gov.mc.protegosafe"], 200, 1), ([], 200, 1),
    ] as [(Set<String>, UInt, Int)] {
      try await run(.yes, { $0.deviceCheck?.bundleIDs = bundles }) {
        server, authority async throws in
        #expect(try await server.upload(request(server)).status == status)
        #expect(await authority.questions.count == questions)
      }
    }
  }

  @Test("Another platform needs no proof")
  func otherPlatform() async throws {
    try await run(.no) { server, authority in
      let request = try await server.request(server.keys()) { $0.data.platform = "android" }
      #expect(try await server.upload(request).status == 200)
      #expect(await authority.questions.isEmpty)
    }
  }

  @Test("Keys that break a rule are refused before the authority is asked")
  func rulesFirst() async throws {
    try await run(.yes) { server, authority in
      let answer = try await server.upload(request(server, keys: []))
      #expect(answer.status == 400)
      #expect(await authority.questions.isEmpty)
    }
  }
}

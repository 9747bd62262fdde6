import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Testing
import UploadToken

@Suite("Servers 2.4: statistics")
struct StatisticsTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run({ configuration in
      configuration.healthAuthorities = [
        HealthAuthority(
          issuer: "codes", audience: "keys", publicKeysPEM: configuration.tokenPublicKeysPEM,
          seesStatistics: true),
        HealthAuthority(
          issuer: "other", audience: "keys", publicKeysPEM: configuration.tokenPublicKeysPEM,
          seesStatistics: true),
        HealthAuthority(
          issuer: "blind", audience: "keys", publicKeysPEM: configuration.tokenPublicKeysPEM),
      ]
    }) { try await body(PublishScene(server: $0)) }
  }

  private struct Claims: Encodable {
    var iss = "codes"
    var aud = "keyserver"
    var exp: Int64
  }

  private func ask(
    _ scene: PublishScene, as issuer: String = "codes", audience: String = "keyserver",
    lifetime: TimeInterval = 60, key: P256.Signing.PrivateKey? = nil, body: String = "{}"
  ) async throws -> (status: UInt, said: StatisticsAnswer) {
    let signing = try SigningKey(
      keyID: "t1", privateKeyPEM: (key ?? scene.server.authority.tokenKey).pemRepresentation)
    let now = scene.server.clock.now.addingTimeInterval(lifetime)
    let token = try CompactToken.text(
      Claims(iss: issuer, aud: audience, exp: Int64(now.timeIntervalSince1970)), signedBy: signing)
    let answer = try await scene.server.post(
      Data(body.utf8), to: KeyServerRoute.statistics,
      headers: [("Authorization", "Bearer \(token)")])
    return (answer.status, try JSONDecoder().decode(StatisticsAnswer.self, from: answer.body))
  }

  @Test("A day is shown with ten uploads, not with nine, and never with those of the running hour")
  func threshold() async throws {
    try await run { scene in
      let agents = [
        "ExampleApp (iPhone; 26)", "bluetoothd (unknown) CFNetwork/1", "Dalvik (Android)",
      ]
      for number in 0..<9 {
        try await scene.publish(
          scene.request(scene.keys(2)), headers: [("User-Agent", agents[number % 3])])
      }
      scene.server.clock.advance(by: 3_600)
      #expect(try await ask(scene).said.days == [])
      try await scene.publish(scene.request(scene.keys(3)))
      #expect(try await ask(scene).said.days == [])
      scene.server.clock.advance(by: 3_600)
      let day = try #require(try await ask(scene).said.days?.first)
      #expect(day.day == "2020-09-13T00:00:00Z")
      #expect(day.publishRequests == .init(unknown: 1, android: 3, ios: 6))
      #expect(day.totalTEKsPublished == 21)
      #expect(day.requestsMissingOnsetDate == 10)
      #expect(day.tekAgeDistribution[2] == 9 && day.tekAgeDistribution[3] == 1)
    }
  }

  @Test("A day with one upload is shown 48 hours after it ended, and not a second before")
  func delay() async throws {
    try await run { scene in
      let keys = scene.keys(1)
      let onset = UInt32(keys[0].rollingStartNumber - 144)
      try await scene.publish(
        scene.request(keys, certificate: scene.certificate(keys) { $0.onset = onset }))
      scene.server.clock.advance(by: 12 * 3_600 + 48 * 3_600 - 1)
      #expect(try await ask(scene).said.days == [])
      scene.server.clock.advance(by: 1)
      let day = try #require(try await ask(scene).said.days?.first)
      #expect(day.publishRequests.total == 1)
      #expect(day.onsetToUploadDistribution[2] == 1)
      #expect(day.requestsMissingOnsetDate == 0)
    }
  }

  @Test("An authority sees its own uploads, not those of another")
  func ownOnly() async throws {
    try await run { scene in
      for _ in 0..<10 { try await scene.publish(scene.request(scene.keys(1))) }
      scene.server.clock.advance(by: 3_600)
      #expect(try await ask(scene).said.days?.count == 1)
      #expect(try await ask(scene, as: "other").said.days == [])
    }
  }

  @Test("Who may not see statistics, or shows a token that is none: 401 unauthorized")
  func unauthorized() async throws {
    try await run { scene in
      let answers = [
        try await ask(scene, as: "blind"), try await ask(scene, as: "nobody"),
        try await ask(scene, audience: "keys"), try await ask(scene, lifetime: 0),
        try await ask(scene, key: P256.Signing.PrivateKey()),
      ]
      for answer in answers {
        #expect(answer.status == 401 && answer.said.code == .unauthorized)
      }
      let bare = try await scene.server.post(Data("{}".utf8), to: KeyServerRoute.statistics)
      #expect(bare.status == 401)
      #expect(try await ask(scene, lifetime: 1).status == 200)
    }
  }

  @Test("A body of another form is 400")
  func malformed() async throws {
    try await run { scene in
      for body in ["", "[]", "{\"days\":1}", "{\"padding\":1}", "{}{}"] {
        let answer = try await ask(scene, body: body)
        #expect(answer.status == 400 && answer.said.code == .badRequest)
      }
    }
  }

  @Test("Revisions are counted, by upload")
  func revisions() async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let token = try await scene.publish(keys, as: "likely").said.revisionToken
      try await scene.publish(keys, as: "confirmed", token: token)
      let counted = "SELECT sum(count) FROM statistic WHERE kind ="
      #expect(try scene.server.count("\(counted) 'revisions'") == 1)
      #expect(try scene.server.count("\(counted) 'keys'") == 2)
    }
  }
}

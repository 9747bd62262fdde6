// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

@Suite("Repeated, concurrent and failing publish requests")
struct IdempotencyTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run { try await body(PublishScene(server: $0)) }
  }

  @Test("A repeated publish request gets the first response, including the revision token")
  func lostResponse() async throws {
    try await run { scene in
      let keys = scene.keys()
      var request = try scene.request(
        keys, certificate: scene.certificate(keys) { $0.reportType = "likely" })
      let first = try await scene.publish(request)
      request.padding = "something else"
      request.temporaryExposureKeys.reverse()
      let again = try await scene.publish(request)
      #expect(first.status == 200 && again.status == 200)
      #expect(again.body == first.body)
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key") == 14)
      #expect(try scene.server.count("SELECT count FROM statistic WHERE kind = 'uploads'") == 1)
      // The token of the second response is valid.
      let token = again.body.revisionToken
      #expect(try await scene.publish(keys, as: "confirmed", token: token).status == 200)
    }
  }

  @Test(
    "A certificate is accepted for one upload; another upload with it is rejected, with or without a jti"
  )
  func replay() async throws {
    try await run { scene in
      for id in ["a certificate", nil] {
        let keys = scene.keys(2)
        let certificate = try scene.certificate(keys) { $0.id = id }
        let request = try scene.request(keys, certificate: certificate)
        #expect(try await scene.publish(request).status == 200)
        for change in 0..<3 {
          var other = request
          switch change {
          case 0: other.traveler = true
          case 1: other.symptomOnsetInterval = keys[0].rollingStartNumber
          default: other.revisionToken = "AAAA"
          }
          let response = try await scene.publish(other)
          #expect((response.status, response.code) == (401, .certificateInvalid))
        }
        #expect(try await scene.publish(request).status == 200)
      }
    }
  }

  @Test("Of different concurrent uploads with one certificate exactly one is accepted")
  func concurrentDifferent() async throws {
    try await run { scene in
      let keys = scene.keys(3)
      let request = try scene.request(keys)
      let statuses = try await withThrowingTaskGroup(of: UInt.self) { group in
        for number in 0..<12 {
          var other = request
          other.symptomOnsetInterval = keys[0].rollingStartNumber + Int32(number)
          group.addTask { [other] in try await scene.publish(other).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.filter { $0 == 200 }.count == 1)
      #expect(statuses.filter { $0 == 401 }.count == 11)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 1)
    }
  }

  @Test("Of the same upload sent concurrently one is stored, and all get the same response")
  func concurrentSame() async throws {
    try await run { scene in
      let request = try scene.request(scene.keys(3))
      let responses = try await withThrowingTaskGroup(of: PublishResponse.self) { group in
        for _ in 0..<12 { group.addTask { try await scene.publish(request).body } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(responses).count == 1)
      #expect(responses.first?.insertedExposures == 3)
      #expect(try scene.server.count("SELECT sum(count) FROM statistic WHERE kind = 'keys'") == 3)
    }
  }

  @Test("Every concurrent upload is counted, including the first of an hour")
  func noLostCounts() async throws {
    try await run { scene in
      let requests = try (0..<40).map { _ in try scene.request(scene.keys(2)) }
      let statuses = try await withThrowingTaskGroup(of: UInt.self) { group in
        for request in requests { group.addTask { try await scene.publish(request).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.allSatisfy { $0 == 200 })
      #expect(
        try scene.server.count("SELECT sum(count) FROM statistic WHERE kind = 'uploads'") == 40)
      #expect(try scene.server.count("SELECT sum(count) FROM statistic WHERE kind = 'keys'") == 80)
    }
  }

  @Test("A decoy gets the headers, status and length of a real response, whatever its content")
  func decoy() async throws {
    try await run { scene in
      let request = try scene.request(scene.keys())
      let decoy = try await scene.publish(request, headers: [("X-Chaff", "1")])
      let real = try await scene.publish(request)
      #expect(decoy.status == real.status)
      #expect(decoy.http.body.count == real.http.body.count)
      #expect(Set(decoy.http.headers.keys) == Set(real.http.headers.keys))
      #expect(decoy.http.headers["content-type"] == real.http.headers["content-type"])
      #expect(real.body.insertedExposures == 14)
    }
  }

  @Test(
    "Failed requests use up the budget, successful ones do not, and decoys have their own budget")
  func budget() async throws {
    try await RunningKeyServer.run({ $0.uploadAttempts = 3 }) { server in
      let scene = PublishScene(server: server)
      let bad = try scene.request(scene.keys(1)) { $0.verificationPayload = "" }
      for _ in 0..<5 {
        #expect(try await scene.publish(scene.request(scene.keys(1))).status == 200)
      }
      for _ in 0..<3 { #expect(try await scene.publish(bad).status == 401) }
      let response = try await scene.publish(bad)
      #expect((response.status, response.code) == (429, .tooManyRequests))
      #expect(response.http.headers["retry-after"] == "600")
      #expect(try await scene.publish(scene.request(scene.keys(1))).status == 200)
      #expect(try await scene.publish(bad, headers: [("X-Chaff", "1")]).status == 200)
    }
  }

  @Test(
    "The age limit of keys is 360 hours")
  func age() {
    #expect(UploadLimit.keyAgeSecondsMax == 360 * 3_600)
  }

  @Test("A certificate stays used if the clock is set back after its expiry")
  func clockSetBack() async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let certificate = try scene.certificate(keys)
      let request = try scene.request(keys, certificate: certificate)
      #expect(try await scene.publish(request).status == 200)
      scene.server.clock.advance(by: 901)
      try await scene.server.server.removeOld()
      scene.server.clock.advance(by: -901)
      var other = request
      other.traveler = true
      #expect(try await scene.publish(other).code == .certificateInvalid)
    }
  }

  @Test(
    "The database and its log contain no certificate id and no key of the database")
  func nothingIsNamed() async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let certificate = try scene.certificate(keys) { $0.id = "a-certificate-id" }
      try await scene.publish(scene.request(keys, certificate: certificate))
      let path = scene.server.configuration.databaseFile.path
      let bytes = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
        .reduce(Data(), +)
      #expect(bytes.range(of: Data("a-certificate-id".utf8)) == nil)
      let secrets = scene.server.configuration.databaseKeys
      for key in [secrets.wrapping, secrets.tokens, secrets.uploads] {
        #expect(bytes.range(of: key.withUnsafeBytes { Data($0) }) == nil)
      }
      #expect(bytes.range(of: scene.server.configuration.databaseKey) == nil)
    }
  }

  @Test(
    "A revision token survives a restart; with another database key the server does not start"
  )
  func restart() async throws {
    let (authority, folder) = (Authority(), try TemporaryFolder())
    var (keys, token): ([PublishKey], String?) = ([], nil)
    try await RunningKeyServer.run(authority: authority, folder: folder) { server in
      let scene = PublishScene(server: server)
      keys = scene.keys(2)
      token = try await scene.publish(keys, as: "likely").body.revisionToken
    }
    await #expect(throws: KeyServerError.otherDatabaseKey) {
      try await RunningKeyServer.run(
        authority: authority, folder: folder, { $0.databaseKey = Data(count: 32) }
      ) { _ in }
    }
    try await RunningKeyServer.run(authority: authority, folder: folder) { server in
      let scene = PublishScene(server: server)
      let response = try await scene.publish(keys, as: "confirmed", token: token)
      #expect(response.status == 200)
    }
  }
}

@Suite(.needs(.smallDisk))
struct PublishOnFullDiskTests {
  @Test(
    "On a full disk a publish request gets 503 with Retry-After, and nothing is stored or counted"
  )
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 2 << 20)
    try await RunningKeyServer.run({
      $0.databaseFile = disk.url.appendingPathComponent("keys.sqlite")
    }) { server in
      let scene = PublishScene(server: server)
      #expect(try await scene.publish(scene.request(scene.keys())).status == 200)
      let ballast = disk.fill()
      var refused: (request: PublishRequest, response: Published)?
      var taken = 1
      for _ in 0..<60 where refused == nil {
        let request = try scene.request(scene.keys())
        let response = try await scene.publish(request)
        if response.status == 200 { taken += 1 } else { refused = (request, response) }
      }
      let (request, response) = try #require(refused)
      #expect((response.status, response.code) == (503, .internalError))
      #expect(response.http.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
      try FileManager.default.removeItem(at: ballast)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == taken * 14)
      #expect(try await scene.publish(request).status == 200)
      let counted = "SELECT sum(count) FROM statistic WHERE kind = 'uploads'"
      #expect(try server.count(counted) == taken + 1)
    }
  }
}

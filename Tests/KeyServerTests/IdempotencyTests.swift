import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

/// servers.md 5: what an upload must not suffer.
@Suite("Servers 5: defects of intake that must not come back")
struct IdempotencyTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run { try await body(PublishScene(server: $0)) }
  }

  @Test("5.8 A phone whose answer was lost gets it again, revision token included")
  func lostAnswer() async throws {
    try await run { scene in
      let keys = scene.keys()
      var request = try scene.request(
        keys, certificate: scene.certificate(keys) { $0.reportType = "likely" })
      let first = try await scene.publish(request)
      request.padding = "something else"
      request.temporaryExposureKeys.reverse()
      let again = try await scene.publish(request)
      #expect(first.status == 200 && again.status == 200)
      #expect(again.said == first.said)
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key") == 14)
      #expect(try scene.server.count("SELECT count FROM statistic WHERE kind = 'uploads'") == 1)
      // And the token that it got the second time is good.
      let token = again.said.revisionToken
      #expect(try await scene.publish(keys, as: "confirmed", token: token).status == 200)
    }
  }

  @Test(
    "A certificate is good for one upload: another one with it is refused, with or without a jti")
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
          let answer = try await scene.publish(other)
          #expect((answer.status, answer.code) == (401, .certificateInvalid))
        }
        #expect(try await scene.publish(request).status == 200)
      }
    }
  }

  @Test("Of different uploads with one certificate at once exactly one is taken")
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

  @Test("The same upload many times at once is taken once, and each gets the same answer")
  func concurrentSame() async throws {
    try await run { scene in
      let request = try scene.request(scene.keys(3))
      let answers = try await withThrowingTaskGroup(of: PublishAnswer.self) { group in
        for _ in 0..<12 { group.addTask { try await scene.publish(request).said } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(answers).count == 1)
      #expect(answers.first?.insertedExposures == 3)
      #expect(try scene.server.count("SELECT sum(count) FROM statistic WHERE kind = 'keys'") == 3)
    }
  }

  @Test("5.4 Of uploads at once every one is counted, the first of an hour included")
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

  @Test("5.3 A decoy has the headers, status and length of an upload, whatever is in it")
  func decoy() async throws {
    try await run { scene in
      let request = try scene.request(scene.keys())
      let decoy = try await scene.publish(request, headers: [("X-Chaff", "1")])
      let real = try await scene.publish(request)
      #expect(decoy.status == real.status)
      #expect(decoy.http.body.count == real.http.body.count)
      #expect(Set(decoy.http.headers.keys) == Set(real.http.headers.keys))
      #expect(decoy.http.headers["content-type"] == real.http.headers["content-type"])
      #expect(real.said.insertedExposures == 14)
    }
  }

  @Test("5.9 Failed publishes have a budget, taken ones cost none of it, decoys have their own")
  func budget() async throws {
    try await RunningKeyServer.run({ $0.uploadAttempts = 3 }) { server in
      let scene = PublishScene(server: server)
      let bad = try scene.request(scene.keys(1)) { $0.verificationPayload = "" }
      for _ in 0..<5 {
        #expect(try await scene.publish(scene.request(scene.keys(1))).status == 200)
      }
      for _ in 0..<3 { #expect(try await scene.publish(bad).status == 401) }
      let answer = try await scene.publish(bad)
      #expect((answer.status, answer.code) == (429, .tooManyRequests))
      #expect(answer.http.headers["retry-after"] == "600")
      #expect(try await scene.publish(bad, headers: [("X-Chaff", "1")]).status == 200)
    }
  }

  @Test(
    "5.16 One constant says how old a key may be: 360 hours, as conforming servers export them")
  func age() {
    #expect(UploadLimit.keyAgeSecondsMax == 360 * 3_600)
  }

  @Test("A certificate stays used when the clock is set back after its removal was due")
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
    "Nothing in the database or its log names a certificate, and no sealing key lies there open")
  func nothingIsNamed() async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let certificate = try scene.certificate(keys) { $0.id = "a-certificate-id" }
      try await scene.publish(scene.request(keys, certificate: certificate))
      let path = scene.server.configuration.databaseFile.path
      let bytes = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
        .reduce(Data(), +)
      #expect(bytes.range(of: Data("a-certificate-id".utf8)) == nil)
      let wrapping = URL(fileURLWithPath: path + ".wrapping-key")
      #expect(bytes.range(of: try Data(contentsOf: wrapping)) == nil)
      let rights = try FileManager.default.attributesOfItem(atPath: wrapping.path)
      #expect(rights[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test(
    "A revision token outlives a restart; under another wrapping key the answer is 503, not a success"
  )
  func restart() async throws {
    let (authority, folder) = (Authority(), try TemporaryFolder())
    var (keys, token): ([PublishKey], String?) = ([], nil)
    try await RunningKeyServer.run(authority: authority, folder: folder) { server in
      let scene = PublishScene(server: server)
      keys = scene.keys(2)
      token = try await scene.publish(keys, as: "likely").said.revisionToken
    }
    try await RunningKeyServer.run(
      authority: authority, folder: folder, { $0.publish.wrappingKey = Data(count: 32) }
    ) { server in
      let scene = PublishScene(server: server)
      let answer = try await scene.publish(scene.keys(1), as: "likely")
      #expect((answer.status, answer.code) == (503, .internalError))
      #expect(answer.http.headers["retry-after"] != nil)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 2)
    }
    try await RunningKeyServer.run(authority: authority, folder: folder) { server in
      let scene = PublishScene(server: server)
      let answer = try await scene.publish(keys, as: "confirmed", token: token)
      #expect(answer.status == 200)
    }
  }
}

@Suite(.enabled(if: SmallDisk.isAvailable, Comment(rawValue: SmallDisk.absence)))
struct PublishOnFullDiskTests {
  @Test(
    "5.5 On a full disk a publish is 503 with Retry-After, nothing is kept or counted, until there is room"
  )
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 2 << 20)
    try await RunningKeyServer.run({
      $0.databaseFile = disk.url.appendingPathComponent("keys.sqlite")
    }) { server in
      let scene = PublishScene(server: server)
      #expect(try await scene.publish(scene.request(scene.keys())).status == 200)
      let ballast = disk.fill()
      var refused: (request: PublishRequest, answer: Published)?
      var taken = 1
      for _ in 0..<60 where refused == nil {
        let request = try scene.request(scene.keys())
        let answer = try await scene.publish(request)
        if answer.status == 200 { taken += 1 } else { refused = (request, answer) }
      }
      let (request, answer) = try #require(refused)
      #expect((answer.status, answer.code) == (503, .internalError))
      #expect(answer.http.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
      try FileManager.default.removeItem(at: ballast)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == taken * 14)
      #expect(try await scene.publish(request).status == 200)
      let counted = "SELECT sum(count) FROM statistic WHERE kind = 'uploads'"
      #expect(try server.count(counted) == taken + 1)
    }
  }
}

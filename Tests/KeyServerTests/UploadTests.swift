// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Uploads of the ProteGO Safe contract")
struct UploadTests {
  @Test("A valid upload is accepted, and its keys are stored once")
  func accepted() async throws {
    try await RunningKeyServer.run { server in
      let response = try await server.upload(server.request(server.keys()))
      #expect(response.status == 200)
      #expect(response.result == "")
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 14)
      #expect(try server.count("SELECT count(*) FROM upload") == 1)
    }
  }

  @Test("A repeated upload gets the same response, whatever its padding, and changes nothing")
  func replayed() async throws {
    try await RunningKeyServer.run { server in
      var request = try await server.request(server.keys())
      let first = try await server.upload(request)
      request.padding = "AAAA"
      request.data.temporaryExposureKeys.reverse()
      let again = try await server.upload(request)
      #expect((first.status, first.result) == (200, ""))
      #expect((again.status, again.result) == (200, ""))
      #expect(first.body.count == again.body.count)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 14)
    }
  }

  @Test("A used token is rejected for other keys, which are not stored")
  func usedToken() async throws {
    try await RunningKeyServer.run { server in
      let token = try await server.authority.token(at: server.clock.now)
      #expect(try await server.upload(server.request(server.keys(), token: token)).status == 200)
      let other = try await server.upload(server.request(server.keys(), token: token))
      #expect((other.status, other.errorStatus) == (401, "UNAUTHENTICATED"))
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 14)
    }
  }

  @Test("Of different concurrent uploads with one token exactly one is accepted")
  func concurrentDifferent() async throws {
    try await RunningKeyServer.run { server in
      let token = try await server.authority.token(at: server.clock.now)
      let statuses = try await withThrowingTaskGroup(of: UInt.self) { group in
        for _ in 0..<12 {
          group.addTask {
            try await server.upload(server.request(server.keys(3), token: token)).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.filter { $0 == 200 }.count == 1)
      #expect(statuses.filter { $0 == 401 }.count == 11)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 3)
    }
  }

  @Test("Of the same upload sent concurrently one is stored, and all get the same response")
  func concurrentSame() async throws {
    try await RunningKeyServer.run { server in
      let request = try await server.request(server.keys(5))
      let statuses = try await withThrowingTaskGroup(of: UInt.self) { group in
        for _ in 0..<12 { group.addTask { try await server.upload(request).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == Array(repeating: 200, count: 12))
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 5)
    }
  }

  @Test("An upload with a stored key does not change it, and the response does not reveal it")
  func knownKey() async throws {
    try await RunningKeyServer.run { server in
      let keys = server.keys(2, risk: 3)
      let first = try await server.upload(server.request(keys))
      var changed = keys
      changed[0].transmissionRisk = 7
      let second = try await server.upload(server.request(changed))
      #expect((second.status, second.body.count) == (first.status, first.body.count))
      #expect(
        try server.count("SELECT count(*) FROM diagnosis_key WHERE transmission_risk = 3") == 2)
    }
  }

  @Test("A missing, foreign, expired or misdirected token is rejected with 401 and not used up")
  func badTokens() async throws {
    try await RunningKeyServer.run { server in
      let now = server.clock.now
      let foreign = try await server.authority.token(at: now, key: P256.Signing.PrivateKey())
      let expired = try await server.authority.token(at: now.addingTimeInterval(-1_800))
      let misdirected = try await server.authority.token(at: now, audience: "others")
      for token in [nil, "", "rubbish", foreign, expired, misdirected] {
        let request = try await server.request(server.keys()) {
          $0.data.verificationPayload = token
        }
        let response = try await server.upload(request)
        #expect((response.status, response.errorStatus) == (401, "UNAUTHENTICATED"))
      }
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 0)
    }
  }

  @Test("An accepted upload with its expired token is answered as before; another one is rejected")
  func expiredRepetition() async throws {
    try await RunningKeyServer.run { server in
      let request = try await server.request(server.keys(3))
      let unused = try await server.request(server.keys(3))
      let first = try await server.upload(request)
      #expect(first.status == 200)
      server.clock.advance(by: 2 * 3_600)
      for _ in 1...2 {
        let again = try await server.upload(request)
        #expect((again.status, again.body.count) == (200, first.body.count))
      }
      var changed = request
      changed.data.temporaryExposureKeys.removeLast()
      for other in [changed, unused] {
        let response = try await server.upload(other)
        #expect((response.status, response.errorStatus) == (401, "UNAUTHENTICATED"))
      }
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 3)
      server.clock.advance(by: 24 * 3_600)
      #expect(try await server.upload(request).status == 401)
    }
  }

  @Test("A token that is bound to keys is accepted for these keys and their secret only")
  func boundToken() async throws {
    try await RunningKeyServer.run { server in
      let keys = server.keys()
      let secret = Data((0..<32).map { UInt8($0) })
      let code = KeyHMAC.authenticationCode(over: keys, secret: secret)
      let token = try await server.authority.token(at: server.clock.now, keyHMAC: code)
      let other = server.keys()
      for (keys, hmackey) in [
        (keys, nil), (keys, "?"), (keys, Data(repeating: 1, count: 32).base64EncodedString()),
        (other, secret.base64EncodedString()), (keys, secret.prefix(15).base64EncodedString()),
      ] {
        let request = try await server.request(keys, token: token) { $0.data.hmackey = hmackey }
        #expect(try await server.upload(request).status == 401)
      }
      let good = try await server.request(keys, token: token) {
        $0.data.hmackey = secret.base64EncodedString()
      }
      #expect(try await server.upload(good).status == 200)
    }
  }

  @Test("Another app, region or platform is rejected with 403", arguments: 0..<3)
  func notAllowed(field: Int) async throws {
    try await RunningKeyServer.run { server in
      let request = try await server.request(server.keys()) { request in
        switch field {
        case 0: request.data.appPackageName = "com.example"
        case 1: request.data.regions = ["PL", "DE"]
        default: request.data.platform = "iOS"
        }
      }
      let response = try await server.upload(request)
      #expect((response.status, response.errorStatus) == (403, "PERMISSION_DENIED"))
    }
  }

  @Test("Keys that break a rule are rejected with the rule, and the token stays valid")
  func brokenRules() async throws {
    try await RunningKeyServer.run { server in
      let token = try await server.authority.token(at: server.clock.now)
      let oneTooMany = (0..<31).map { number in
        var key = server.keys(1)[0]
        key.rollingStartNumber -= UInt32(number % 15) * 144
        return key
      }
      for keys in [[], oneTooMany] {
        let response = try await server.upload(server.request(keys, token: token))
        #expect((response.status, response.errorStatus) == (400, "INVALID_ARGUMENT"))
        #expect(String(decoding: response.body, as: UTF8.self).contains("1 to 30 keys"))
      }
      let thirty = Array(oneTooMany.dropLast())
      #expect(try await server.upload(server.request(thirty, token: token)).status == 200)
    }
  }

  @Test(
    "Uploads with 0 or 11 regions are rejected, with 1 or 10 accepted", arguments: [0, 1, 10, 11])
  func regionCount(count: Int) async throws {
    try await RunningKeyServer.run { server in
      let request = try await server.request(server.keys()) {
        $0.data.regions = Array(repeating: "PL", count: count)
      }
      #expect(try await server.upload(request).status == ((1...10).contains(count) ? 200 : 400))
    }
  }

  @Test("A malformed body is rejected with 400, another content type with 415")
  func malformed() async throws {
    try await RunningKeyServer.run { server in
      for body in ["", "[]", "{}", #"{"data":{}}"#, "{\"data\":", "\u{0}"] {
        let response = try await server.post(Data(body.utf8))
        #expect((response.status, response.errorStatus) == (400, "INVALID_ARGUMENT"))
      }
      let good = try await JSONEncoder().encode(server.request(server.keys()))
      #expect(try await server.post(good, type: "text/plain").status == 415)
      #expect(try await server.post(good, type: "application/json; charset=utf-8").status == 200)
    }
  }

  @Test(
    "A body of the maximum size is accepted, a larger one is rejected with 413",
    arguments: [-1, 0, 1])
  func bodyLimit(offset: Int) async throws {
    try await RunningKeyServer.run { server in
      let body = try await JSONEncoder().encode(server.request(server.keys()))
      let blanks = UploadLimit.bodyBytesMax + offset - body.count
      let response = try await server.post(body + Data(repeating: 0x20, count: blanks))
      #expect(response.status == (offset > 0 ? 413 : 200))
    }
  }

  @Test("Responses to accepted and rejected uploads have the same length")
  func lengths() async throws {
    try await RunningKeyServer.run { server in
      let good = try await server.upload(server.request(server.keys()))
      let refused = try await server.upload(
        server.request(server.keys()) { $0.data.verificationPayload = nil })
      let broken = try await server.upload(server.request([]))
      #expect(Set([good, refused, broken].map(\.body.count)).count == 1)
    }
  }

  @Test("A decoy gets the same response as an upload and has no effect")
  func decoy() async throws {
    try await RunningKeyServer.run { server in
      let request = try await server.request(server.keys())
      let decoy = try await server.upload(request, headers: [("X-Chaff", "1")])
      #expect((decoy.status, decoy.result) == (200, ""))
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 0)
      let real = try await server.upload(request)
      #expect((real.status, real.result, real.body.count) == (200, "", decoy.body.count))
      #expect(Set(real.headers.keys) == Set(decoy.headers.keys))
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 14)
    }
  }

  @Test("Failed uploads use up the budget, successful ones do not")
  func budget() async throws {
    try await RunningKeyServer.run({ $0.uploadAttempts = 3 }) { server in
      for _ in 0..<5 {
        #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      }
      let bad = try await server.request(server.keys(1)) { $0.data.verificationPayload = nil }
      for _ in 0..<3 { #expect(try await server.upload(bad).status == 401) }
      let response = try await server.upload(bad)
      #expect((response.status, response.errorStatus) == (429, "RESOURCE_EXHAUSTED"))
      #expect(response.headers["retry-after"].flatMap { Int($0) } == 600)
      // A right upload is not refused for the failures of others behind the address.
      #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      server.clock.advance(by: 600)
      #expect(try await server.upload(bad).status == 401)
    }
  }

  @Test("A used token stays used if the clock is set back after its expiry")
  func clockSetBack() async throws {
    try await RunningKeyServer.run { server in
      let token = try await server.authority.token(at: server.clock.now, lifetime: 1_800)
      #expect(try await server.upload(server.request(server.keys(), token: token)).status == 200)
      server.clock.advance(by: 1_801)
      try await server.server.removeOld()
      server.clock.advance(by: -1_801)
      #expect(try await server.upload(server.request(server.keys(), token: token)).status == 401)
    }
  }

  @Test("Responses allow cross-origin requests from the configured origin")
  func crossOrigin() async throws {
    try await RunningKeyServer.run({ $0.allowedOrigin = "https://app.example" }) { server in
      let response = try await server.upload(
        server.request(server.keys()), headers: [("Origin", "https://app.example")])
      #expect(response.headers["access-control-allow-origin"] == "https://app.example")
    }
  }

  @Test("Times in the database are full hours, and it contains no token and no address")
  func coarseMoments() async throws {
    try await RunningKeyServer.run { server in
      server.clock.advance(by: 1_234)
      try await server.upload(
        server.request(
          server.keys(),
          token: server.authority.token(
            at: server.clock.now, id: "a-token-id")))
      #expect(
        try server.count("SELECT count(*) FROM diagnosis_key WHERE released_at % 3600 <> 0") == 0)
      #expect(try server.count("SELECT count(*) FROM upload WHERE kept_until % 3600 <> 0") == 0)
      let bytes =
        try Data(contentsOf: server.configuration.databaseFile)
        + Data(contentsOf: URL(fileURLWithPath: server.configuration.databaseFile.path + "-wal"))
      #expect(bytes.range(of: Data("a-token-id".utf8)) == nil)
      #expect(bytes.range(of: Data("127.0.0.1".utf8)) == nil)
    }
  }

  @Test("The key table has no row numbers, which would link the keys of one upload")
  func noRowNumbers() async throws {
    try await RunningKeyServer.run { server in
      try await server.upload(server.request(server.keys()))
      #expect(throws: DatabaseError.self) {
        try server.count("SELECT max(rowid) FROM diagnosis_key")
      }
    }
  }

  @Test("Only the server's own user can read the database and its log")
  func databaseIsPrivate() async throws {
    try await RunningKeyServer.run { server in
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      for suffix in ["", "-wal"] {
        let path = server.configuration.databaseFile.path + suffix
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
      }
    }
  }
}

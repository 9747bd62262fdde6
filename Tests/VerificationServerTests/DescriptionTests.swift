import Foundation
import GRDB
import Hummingbird
import QuietHTTP
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

/// The description at `/openapi.json` against the routes and their answers.
@Suite struct DescriptionTests {
  private static let seedRoutes = [
    VerificationRoute.generateCode, VerificationRoute.generateCodesBatch,
    VerificationRoute.accessToken,
  ]
  private static let posts =
    seedRoutes + GoogleRequestTests.deviceRoutes + GoogleRequestTests.adminRoutes

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("Every route that is registered is described, and no other")
  func routes() async throws {
    let bench = try VerificationBench()
    let configuration = VerificationServerConfiguration(
      databaseFile: folder.path("x.sqlite"), apiTokens: [],
      codeHashKey: [UInt8](repeating: 7, count: 32), signing: bench.signing)
    let rooms = VerificationRooms(
      configuration: configuration, storage: bench.storage, keys: bench.keys,
      apiTokens: try ApiTokens([]),
      signing: SigningKeyring(
        bench.signing, read: nil, clock: bench.clock, logger: CollectedLog().logger),
      clock: bench.clock, randomness: SystemRandomness())
    let registered = try rooms.router().routes.filter { $0.method != .head }
      .map { "\($0.method.rawValue) \($0.path)" }
    try await RunningServer.run(in: folder.url) { server async throws in
      let description = try await description(server)
      #expect(description.routes == Set(registered))
      #expect(registered.count == 13)
    }
  }

  @Test("Every status that is described is answered, and every answer is as it is described")
  func answers() async throws {
    let fresh = folder.path("fresh")
    try FileManager.default.createDirectory(at: fresh, withIntermediateDirectories: true)
    var known: DescriptionLedger?
    try await RunningServer.run(in: folder.url, configure: Self.withReports) {
      server async throws in
      var ledger = DescriptionLedger(try await description(server))
      try await goodAndRefused(server, &ledger)
      try await pages(server, &ledger)
      try await slow(server, &ledger)
      try await failing(server, &ledger)
      known = ledger
    }
    var ledger = try #require(known)
    try await RunningServer.run(
      in: fresh, attempts: AttemptLimits(perAddress: 1), configure: Self.withReports
    ) { server async throws in try await tooMany(server, &ledger) }
    try await elsewhere(&ledger)
    try await ourFault(&ledger)
    #expect(ledger.unanswered == [])
  }

  private static func withReports(_ configuration: inout VerificationServerConfiguration) {
    configuration.policy.allowsUserReport = true
    configuration.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL")
  }

  /// The credential that a route wants.
  private static func key(_ path: String, _ server: RunningServer) -> [String: String] {
    if seedRoutes.contains(path) {
      return [VerificationRoute.apiTokenHeader: RunningServer.apiToken]
    }
    let isDevice = GoogleRequestTests.deviceRoutes.contains(path)
    return ["X-API-Key": isDevice ? server.deviceKey : server.adminKey]
  }

  private func goodAndRefused(
    _ server: RunningServer, _ ledger: inout DescriptionLedger
  ) async throws {
    for (path, body) in try await Self.questions(to: server) {
      let key = Self.key(path, server)
      expectNone(ledger.description.faults(inQuestion: Data(body.utf8), path: path))
      expectNone(note(try await server.post(path, body, headers: key), path, &ledger))
      for wrong in ["{", String(repeating: " ", count: 64_001)] {
        expectNone(note(try await server.post(path, wrong, headers: key), path, &ledger))
      }
      expectNone(
        note(
          try await server.post(path, body, contentType: "text/plain", headers: key), path, &ledger)
      )
      if path != VerificationRoute.accessToken {
        expectNone(note(try await server.post(path, body), path, &ledger))
      }
      for body in [body, "no"] {
        let decoy = try await server.post(
          path, body, headers: key.merging(["X-Chaff": "1"]) { $1 })
        expectNone(note(decoy, path, &ledger))
      }
    }
  }

  /// Good questions, and well-formed ones that are refused.
  private static func questions(to server: RunningServer) async throws -> [(String, String)] {
    let issued = try await server.issue(
      #"{"testType":"confirmed","symptomDate":"2027-01-10","testDate":"2027-01-12"}"#)
    let other = try await server.issue()
    let token = try await server.verified(try await server.issue().code).token
    let hmac = RunningServer.keyHMAC.base64EncodedString()
    let order = #"{"testType":"confirmed","tzOffset":0,"padding":"AAAA"}"#
    let again = #"{"testType":"confirmed","uuid":"\#(other.uuid)"}"#
    let (uuid, unknown) = (#"{"uuid":"\#(issued.uuid)"}"#, #"{"uuid":"\#(UUID().uuidString)"}"#)
    let report =
      #"{"testDate":"2027-01-15","phone":"+48123456789","nonce":"\#(UserReportTests.nonce)"}"#
    return [
      (
        VerificationRoute.generateCode,
        #"{"data":{"testType":"confirmed","symptomDate":"2027-01-10"},"padding":"AAAA"}"#
      ),
      (VerificationRoute.generateCodesBatch, #"{"data":{"duration":1800,"numberOfCodes":3}}"#),
      (VerificationRoute.accessToken, #"{"data":{"code":"\#(try await server.newCode())"}}"#),
      (VerificationRoute.accessToken, #"{"data":{"code":"A1B2C3","ekeyhmac":"\#(hmac)"}}"#),
      (VerificationRoute.issue, order), (VerificationRoute.issue, again),
      (VerificationRoute.batchIssue, #"{"codes":[\#(order)]}"#),
      (VerificationRoute.batchIssue, #"{"codes":[\#(order),\#(again)]}"#),
      (VerificationRoute.verify, #"{"code":"\#(issued.code)","accept":["confirmed"]}"#),
      (VerificationRoute.verify, #"{"code":"\#(other.code)","accept":["user-report"]}"#),
      (VerificationRoute.certificate, #"{"token":"\#(token)","ekeyhmac":"\#(hmac)"}"#),
      (VerificationRoute.checkCodeStatus, uuid), (VerificationRoute.checkCodeStatus, unknown),
      (VerificationRoute.expireCode, uuid), (VerificationRoute.expireCode, unknown),
      (VerificationRoute.userReport, report),
    ]
  }

  private func pages(_ server: RunningServer, _ ledger: inout DescriptionLedger) async throws {
    for path in [VerificationRoute.keys, VerificationRoute.keyList, "/openapi.json"] {
      let page = try await server.get(path)
      expectNone(note(page, path, &ledger, method: "get"))
      guard path != "/openapi.json" else { continue }
      let keys = try JSONDecoder().decode(JSONWebKeySet.self, from: page.body)
      #expect(keys.publicKeysPEM.count == 1)
    }
  }

  /// Clients that send a byte and then nothing, one on each route, at the same time.
  private func slow(_ server: RunningServer, _ ledger: inout DescriptionLedger) async throws {
    let answers = try await withThrowingTaskGroup(of: (String, RawPost.Answer).self) { group in
      for path in Self.posts {
        group.addTask {
          let post = RawPost(port: server.port, path: path, headers: Self.key(path, server))
          return (path, try await post.answer(sending: Data("{".utf8), announced: 100))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for (path, answer) in answers {
      #expect(answer.status == 408, "\(path)")
      expectNone(note(answer, path, &ledger))
    }
  }

  /// A database that fails: the seed's routes look for codes, Google's for API keys first.
  private func failing(_ server: RunningServer, _ ledger: inout DescriptionLedger) async throws {
    let questions = try await Self.questions(to: server)
    let queue = try DatabaseQueue(path: server.configuration.databaseFile.path)
    try await queue.write { database in
      try database.execute(sql: "ALTER TABLE spelling RENAME TO away")
      try database.execute(sql: "ALTER TABLE apiKey RENAME TO gone")
    }
    for (path, body) in questions {
      let answer = try await server.post(path, body, headers: Self.key(path, server))
      #expect(answer.status == 503 && answer.headers["retry-after"] != nil, "\(path)")
      expectNone(note(answer, path, &ledger))
    }
  }

  /// A server that bears one failure from an address.
  private func tooMany(_ server: RunningServer, _ ledger: inout DescriptionLedger) async throws {
    let questions = try await Self.questions(to: server)
    for path in [
      VerificationRoute.generateCode, VerificationRoute.verify, VerificationRoute.issue,
    ] {
      expectNone(note(try await server.post(path, "{}"), path, &ledger))
    }
    let unknown = #"{"data":{"code":"A1B2C3"}}"#
    expectNone(
      note(
        try await server.post(VerificationRoute.accessToken, unknown),
        VerificationRoute.accessToken, &ledger))
    for (path, body) in questions {
      let answer = try await server.post(path, body, headers: Self.key(path, server))
      #expect(answer.status == 429 && answer.headers["retry-after"] != nil, "\(path)")
      expectNone(note(answer, path, &ledger))
    }
  }

  /// A server that answers other addresses only.
  private func elsewhere(_ ledger: inout DescriptionLedger) async throws {
    let folder = try TemporaryFolder()
    let networks = try #require(Netmasks(["192.0.2.0/24"]))
    var known = ledger
    try await RunningServer.run(
      in: folder.url,
      configure: { ($0.applicationNetmasks, $0.operatorNetmasks) = (networks, networks) }
    ) { server async throws in
      for path in Self.posts {
        let answer = try await server.post(path, "{}", headers: Self.key(path, server))
        #expect(answer.status == (Self.seedRoutes.contains(path) ? 403 : 401), "\(path)")
        expectNone(note(answer, path, &known))
      }
    }
    ledger = known
  }

  /// Nothing that a client can send brings these routes to a 500, so routes stand in for them that fail in
  /// the same forms.
  private func ourFault(_ ledger: inout DescriptionLedger) async throws {
    struct Broken: Error {}
    let router = Router.quiet(refusals: .callable, randomness: SystemRandomness())
    for path in Self.posts {
      router.post(
        RouterPath(path),
        QuietRoute<Bool>(
          limit: BodyLimit(bytesMax: 100),
          refusals: Self.seedRoutes.contains(path) ? .callable : .google, shape: AnswerShape(),
          randomness: SystemRandomness(), read: { _ in true }, decoy: { _ in throw Broken() },
          answer: { _ in throw Broken() }))
    }
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, logger: CollectedLog().logger)
    let running = Task { try await server.run() }
    let port = await server.boundPort
    for path in Self.posts {
      let answer = try await RawPost(port: port, path: path).answer(sending: Data("{}".utf8))
      #expect(answer.status == 500)
      expectNone(note(answer, path, &ledger))
    }
    running.cancel()
    _ = await running.result
  }

  @Test("An answer that is not as described is found out")
  func control() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let description = try await description(server)
      let path = VerificationRoute.checkCodeStatus
      for (body, status, faults) in [
        (#"{"claimed":true,"expiresAtTimestamp":1,"padding":""}"#, 200, 0),
        (#"{"claimed":1,"expiresAtTimestamp":1,"padding":""}"#, 200, 1),
        (#"{"claimed":true,"expiresAtTimestamp":"1"}"#, 200, 2),
        (#"{"claimed":true,"expiresAtTimestamp":1,"padding":"","more":1}"#, 200, 1),
        (#"{"error":"","errorCode":"strange","error_code":"code_invalid","padding":""}"#, 400, 1),
        ("{}", 418, 1), ("no", 200, 1),
      ] {
        let found = description.faults(inAnswer: Data(body.utf8), status: status, path: path)
        #expect(found.count == faults, "\(body) \(found)")
      }
    }
  }

  private func description(_ server: RunningServer) async throws -> ServerDescription {
    let page = try await server.get("/openapi.json")
    #expect(page.status == 200)
    return try #require(ServerDescription(page.body))
  }

  private func note(
    _ answer: RunningServer.Answer, _ path: String, _ ledger: inout DescriptionLedger,
    method: String = "post"
  ) -> [String] {
    ledger.note(
      answer.body, status: answer.status, type: answer.headers["content-type"], method: method,
      path: path)
  }

  private func note(
    _ answer: RawPost.Answer, _ path: String, _ ledger: inout DescriptionLedger
  ) -> [String] {
    ledger.note(
      answer.body, status: answer.status, type: answer.headers["content-type"], path: path)
  }

  private func expectNone(
    _ faults: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(faults == [], sourceLocation: sourceLocation)
  }
}

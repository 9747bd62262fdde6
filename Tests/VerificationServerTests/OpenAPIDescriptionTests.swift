// SPDX-License-Identifier: Apache-2.0
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

/// The description at `/openapi.json`, compared with the routes and their responses.
@Suite struct OpenAPIDescriptionTests {
  private static let proteGOSafeRoutes = [
    VerificationRoute.generateCode, VerificationRoute.generateCodesBatch,
    VerificationRoute.accessToken,
  ]
  private static let posts =
    proteGOSafeRoutes + GoogleRouteTests.deviceRoutes + GoogleRouteTests.adminRoutes

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("The description contains exactly the registered routes")
  func routes() async throws {
    let bench = try VerificationBench()
    let configuration = VerificationServerConfiguration(
      databaseFile: folder.path("x.sqlite"), apiTokens: [],
      codeHashKey: [UInt8](repeating: 7, count: 32), signing: bench.signing)
    let rooms = VerificationComposition(
      configuration: configuration, storage: bench.storage, keys: bench.keys,
      apiTokens: try APITokens([]),
      signing: SigningKeyring(
        bench.signing, read: nil, clock: bench.clock, logger: CollectedLog().logger),
      clock: bench.clock, randomness: SystemRandomness(), logger: CollectedLog().logger)
    let registered = try rooms.router().routes.filter { $0.method != .head }
      .map { "\($0.method.rawValue) \($0.path)" }
    try await RunningServer.run(in: folder.url) { server async throws in
      let description = try await description(server)
      #expect(description.routes == Set(registered))
      #expect(registered.count == 27)
    }
  }

  @Test("Every described status occurs, and every response matches the description")
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
    try await internalError(&ledger)
    #expect(ledger.unanswered == [])
  }

  private static func withReports(_ configuration: inout VerificationServerConfiguration) {
    configuration.policy.allowsUserReport = true
    configuration.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL")
  }

  /// The credential of a route.
  private static func key(_ path: String, _ server: RunningServer) -> [String: String] {
    if proteGOSafeRoutes.contains(path) {
      return [VerificationRoute.apiTokenHeader: RunningServer.apiToken]
    }
    let isDevice = GoogleRouteTests.deviceRoutes.contains(path)
    return ["X-API-Key": isDevice ? server.deviceKey : server.adminKey]
  }

  private static let statisticsRoutes = [
    VerificationRoute.statistics, VerificationRoute.userStatistics,
    VerificationRoute.smsErrorStatistics,
    VerificationRoute.externalIssuerStatistics, VerificationRoute.apiKeysStatistics,
  ].flatMap { [$0, VerificationRoute.csv(of: $0)] }

  /// Gets the statistics and notes the responses.
  private func statistics(
    _ server: RunningServer, _ status: Int, withKey: Bool = true, _ ledger: inout DescriptionLedger
  ) async throws {
    let headers = withKey ? ["X-API-Key": server.adminKey] : [:]
    let (route, id) = (VerificationRoute.apiKeyStatistics, server.adminKey.prefix(16))
    let ofKeys = ["\(id).json", "\(id).csv"].map {
      (route, route.replacing("{file}", with: $0))
    }
    for (route, path) in Self.statisticsRoutes.map({ ($0, $0) }) + ofKeys {
      let response = try await server.get(path, headers: headers)
      #expect(response.status == status)
      expectNone(note(response, route, &ledger, method: "get"))
    }
    guard status == 200 else { return }
    let unknown = try await server.get(route.replacing("{file}", with: "x"), headers: headers)
    #expect(unknown.status == 404)
    expectNone(note(unknown, route, &ledger, method: "get"))
  }

  private func goodAndRefused(
    _ server: RunningServer, _ ledger: inout DescriptionLedger
  ) async throws {
    try await statistics(server, 401, withKey: false, &ledger)
    for (path, body) in try await Self.requests(to: server) {
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
    try await statistics(server, 200, &ledger)
  }

  /// Valid requests, and well-formed requests that are rejected.
  private static func requests(to server: RunningServer) async throws -> [(String, String)] {
    let issued = try await server.issue(
      #"{"testType":"confirmed","symptomDate":"2027-01-10","testDate":"2027-01-12"}"#)
    let other = try await server.issue()
    let token = try await server.verified(try await server.issue().code).token
    let hmac = RunningServer.keyHMAC.base64EncodedString()
    let request = #"{"testType":"confirmed","tzOffset":0,"padding":"AAAA"}"#
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
      (VerificationRoute.issue, request), (VerificationRoute.issue, again),
      (VerificationRoute.batchIssue, #"{"codes":[\#(request)]}"#),
      (VerificationRoute.batchIssue, #"{"codes":[\#(request),\#(again)]}"#),
      (VerificationRoute.verify, #"{"code":"\#(issued.code)","accept":["confirmed"]}"#),
      (VerificationRoute.verify, #"{"code":"\#(other.code)","accept":["user-report"]}"#),
      (VerificationRoute.certificate, #"{"token":"\#(token)","ekeyhmac":"\#(hmac)"}"#),
      (VerificationRoute.checkCodeStatus, uuid), (VerificationRoute.checkCodeStatus, unknown),
      (VerificationRoute.expireCode, uuid), (VerificationRoute.expireCode, unknown),
      (VerificationRoute.userReport, report),
      (VerificationRoute.freePhone, #"{"phone":"+48123456789"}"#),
      (VerificationRoute.freePhone, #"{"phone":"911"}"#),
    ]
  }

  private func pages(_ server: RunningServer, _ ledger: inout DescriptionLedger) async throws {
    for path in ["/health", "/ready"] {
      expectNone(note(try await server.get(path), path, &ledger, method: "get"))
    }
    for path in [VerificationRoute.keys, VerificationRoute.keyList, "/openapi.json"] {
      let page = try await server.get(path)
      expectNone(note(page, path, &ledger, method: "get"))
      guard path != "/openapi.json" else { continue }
      let keys = try JSONDecoder().decode(JSONWebKeySet.self, from: page.body)
      #expect(keys.publicKeysPEM.count == 1)
    }
  }

  /// Clients that send one byte and stop, one for each route, at the same time.
  private func slow(_ server: RunningServer, _ ledger: inout DescriptionLedger) async throws {
    let responses = try await withThrowingTaskGroup(of: (String, RawPost.Answer).self) { group in
      for path in Self.posts {
        group.addTask {
          let post = RawPost(port: server.port, path: path, headers: Self.key(path, server))
          return (path, try await post.answer(sending: Data("{".utf8), announced: 100))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for (path, response) in responses {
      #expect(response.status == 408, "\(path)")
      expectNone(note(response, path, &ledger))
    }
  }

  /// A database that fails: the routes of ProteGO Safe read codes, those of Google API keys first.
  private func failing(_ server: RunningServer, _ ledger: inout DescriptionLedger) async throws {
    let requests = try await Self.requests(to: server)
    let queue = try server.database()
    try await queue.write { database in
      try database.execute(sql: "ALTER TABLE codeHash RENAME TO away")
      try database.execute(sql: "ALTER TABLE apiKey RENAME TO gone")
      try database.execute(sql: "ALTER TABLE server_state RENAME TO lost")
    }
    for (path, body) in requests {
      let response = try await server.post(path, body, headers: Self.key(path, server))
      #expect(response.status == 503 && response.headers["retry-after"] != nil, "\(path)")
      expectNone(note(response, path, &ledger))
    }
    try await statistics(server, 503, &ledger)
    try await Patience.until { try await server.get("/ready").status == 503 }
    expectNone(note(try await server.get("/ready"), "/ready", &ledger, method: "get"))
  }

  /// A server that allows one failure per address.
  private func tooMany(_ server: RunningServer, _ ledger: inout DescriptionLedger) async throws {
    let requests = try await Self.requests(to: server)
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
    for (path, body) in requests {
      // Right requests are served also beyond the limit.
      let response = try await server.post(
        path, path == VerificationRoute.accessToken ? unknown : body)
      #expect(response.status == 429 && response.headers["retry-after"] != nil, "\(path)")
      expectNone(note(response, path, &ledger))
    }
    // The wrong key at the route of codes has used up the attempts of all routes of admin keys.
    try await statistics(server, 429, withKey: false, &ledger)
  }

  /// A server that serves other addresses only.
  private func elsewhere(_ ledger: inout DescriptionLedger) async throws {
    let folder = try TemporaryFolder()
    let networks = try #require(Netmasks(["192.0.2.0/24"]))
    var known = ledger
    try await RunningServer.run(
      in: folder.url,
      configure: { ($0.applicationNetmasks, $0.operatorNetmasks) = (networks, networks) }
    ) { server async throws in
      for path in Self.posts {
        let response = try await server.post(path, "{}", headers: Self.key(path, server))
        #expect(response.status == (Self.proteGOSafeRoutes.contains(path) ? 403 : 401), "\(path)")
        expectNone(note(response, path, &known))
      }
    }
    ledger = known
  }

  /// No client can cause a 500 on these routes, so routes that fail replace them with the same
  /// error bodies.
  private func internalError(_ ledger: inout DescriptionLedger) async throws {
    struct Broken: Error {}
    let router = Router.quiet(refusals: .callable, randomness: SystemRandomness())
    for path in Self.posts {
      router.post(
        RouterPath(path),
        QuietRoute<Bool>(
          limit: BodyLimit(bytesMax: 100),
          refusals: Self.proteGOSafeRoutes.contains(path) ? .callable : .google,
          shape: ResponseShape(),
          randomness: SystemRandomness(), read: { _ in true }, decoy: { _ in throw Broken() },
          respond: { _ in throw Broken() }))
    }
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, logger: CollectedLog().logger)
    let running = Task { try await server.run() }
    let port = await server.boundPort
    for path in Self.posts {
      let response = try await RawPost(port: port, path: path).answer(sending: Data("{}".utf8))
      #expect(response.status == 500)
      expectNone(note(response, path, &ledger))
    }
    running.cancel()
    _ = await running.result
  }

  @Test("A response that does not match the description is detected")
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
    _ response: RunningServer.Response, _ path: String, _ ledger: inout DescriptionLedger,
    method: String = "post"
  ) -> [String] {
    ledger.note(
      response.body, status: response.status, type: response.headers["content-type"],
      method: method,
      path: path)
  }

  private func note(
    _ response: RawPost.Answer, _ path: String, _ ledger: inout DescriptionLedger
  ) -> [String] {
    ledger.note(
      response.body, status: response.status, type: response.headers["content-type"], path: path)
  }

  private func expectNone(
    _ faults: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(faults == [], sourceLocation: sourceLocation)
  }
}

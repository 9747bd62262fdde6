// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import QuietHTTP
import TestSupport
import Testing
import UploadToken
import World

@testable import KeyServer

@Suite("Key server: OpenAPI description")
struct DescriptionTests {
  private static let posts = [
    KeyServerRoute.upload, KeyServerRoute.publish, KeyServerRoute.statistics,
  ]

  private static func withTravellers(_ configuration: inout KeyServerConfiguration) {
    configuration.furtherExports = [ExportConfiguration(filenameRoot: "v1-eu", region: "PL")]
    configuration.uploadAttempts = 30
    configuration.apps = [.init(id: "no.region", regions: [], authorities: ["codes"])]
    configuration.healthAuthorities = [
      HealthAuthority(
        issuer: "codes", audience: "keys", publicKeysPEM: configuration.tokenPublicKeysPEM,
        seesStatistics: true)
    ]
    let keys = configuration.exportSigners.compactMap { try? $0.publicKey() }
    let document = try? UnverifiedDeviceConfiguration.signed(
      .first(keys: keys, issued: RunningKeyServer.start), by: RootPrivateKey()
    ).encoded()
    configuration.readDeviceConfiguration = { document ?? Data() }
  }

  private static func described(_ page: Data) throws -> ServerDescription {
    try #require(ServerDescription(page))
  }

  /// No route changes an app, an authority or a signing key: administration is a command on the machine.
  @Test("Every registered route is described, and none of them is for administration")
  func routes() async throws {
    let folder = try TemporaryFolder()
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    Self.withTravellers(&configuration)
    let composition = try KeyServerComposition(
      configuration, clock: ManualClock(RunningKeyServer.start), randomness: SystemRandomness(),
      logger: Logger(label: "test"))
    let registered = composition.router.routes.filter { $0.method != .head }
      .map { "\($0.method.rawValue) \($0.path)" }
    try await RunningKeyServer.run(Self.withTravellers) { server in
      let description = try Self.described(try await server.get("/openapi.json").body)
      #expect(description.routes == Set(registered))
    }
    #expect(
      registered.sorted() == [
        "GET /device-configuration.json", "GET /health", "GET /index.txt", "GET /openapi.json",
        "GET /ready", "GET /remote-configuration.json",
        "GET /v1-eu/index.txt", "GET /v1-eu/{name}", "GET /v1/publish", "GET /{name}",
        "POST /uploadDiagnosisKeys", "POST /v1/publish", "POST /v1/stats",
      ])
  }

  @Test("Every described status occurs, and every response matches its description")
  func answers() async throws {
    try await RunningKeyServer.run(Self.withTravellers) { server in
      let page = try await server.get("/openapi.json")
      var ledger = DescriptionLedger(try Self.described(page.body))
      expectNone(
        ledger.note(
          page.body, status: 200, type: page.headers["content-type"], method: "get",
          path: "/openapi.json"))
      try await acceptedAndRejected(server, &ledger)
      try await downloads(server, &ledger)
      try await withoutDeviceConfiguration(&ledger)
      try await slow(server, &ledger)
      try await failing(server, &ledger)
      try await internalError(&ledger)
      try await tooMany(server, &ledger)
      #expect(ledger.unanswered == [])
    }
  }

  /// Runs last, because afterwards this address is over its budget.
  private func tooMany(
    _ server: RunningKeyServer, _ ledger: inout DescriptionLedger
  ) async throws {
    let bad = try await JSONEncoder().encode(server.request(server.keys(1), token: "no"))
    // Concurrent, because each refusal takes as long as the earlier uploads took.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<30 {
        group.addTask { _ = try await server.post(bad) }
        group.addTask { _ = try await server.post(Data("{}".utf8), to: KeyServerRoute.statistics) }
      }
      try await group.waitForAll()
    }
    for path in Self.posts {
      let body = path == KeyServerRoute.upload ? bad : Data("{}".utf8)
      let answer = try await server.post(body, to: path)
      #expect(answer.status == 429, "\(path)")
      expectNone(note(answer, path, &ledger))
    }
  }

  private func acceptedAndRejected(
    _ server: RunningKeyServer, _ ledger: inout DescriptionLedger
  ) async throws {
    let scene = PublishScene(server: server)
    let keys = scene.keys(2)
    var broken = keys
    broken[0].rollingPeriod = 0
    let good = try scene.request(keys) { $0.traveler = false }
    let upload = try await server.request(server.keys()) {
      $0.data.hmackey = Data(count: 16).base64EncodedString()
    }
    let requests: [(path: String, bodies: [Data])] = [
      (
        KeyServerRoute.publish,
        try [
          good, scene.request(broken), scene.request(keys), scene.request([]),
          scene.request(scene.keys(1)) { $0.hmacKey = nil },
          scene.request(scene.keys(1)) { $0.healthAuthorityID = "no.region" },
        ].map { try JSONEncoder().encode($0) }
      ),
      (
        KeyServerRoute.upload,
        try await [
          upload, server.request([]), server.request(server.keys(1), token: "no"),
          server.request(keysWithFuture(server)),
          server.request(server.keys(1)) { $0.data.regions = ["DE"] },
        ].map { try JSONEncoder().encode($0) }
      ),
      (KeyServerRoute.statistics, [Data(#"{"padding":"AAAA"}"#.utf8), Data("[]".utf8)]),
    ]
    let bearer = ("Authorization", "Bearer \(try statisticsToken(server))")
    for (path, bodies) in requests {
      #expect(ledger.description.faults(inQuestion: bodies[0], path: path).isEmpty, "\(path)")
      for body in bodies + [Data("{".utf8), Data(repeating: 0x20, count: 70_000)] {
        expectNone(
          note(try await server.post(body, to: path, headers: [bearer]), path, &ledger))
      }
      expectNone(
        note(try await server.post(bodies[0], to: path, type: "text/plain"), path, &ledger))
      for body in [bodies[0], Data("no".utf8)] {
        let decoy = try await server.post(body, to: path, headers: [("X-Chaff", "1")])
        expectNone(note(decoy, path, &ledger))
      }
    }
    let bare = try await server.post(Data("{}".utf8), to: KeyServerRoute.statistics)
    expectNone(note(bare, KeyServerRoute.statistics, &ledger))
    let get = try await server.get(KeyServerRoute.publish)
    expectNone(note(get, KeyServerRoute.publish, &ledger, method: "get"))
  }

  /// Two keys, of which the first one is not valid yet.
  private func keysWithFuture(_ server: RunningKeyServer) -> [UploadKey] {
    var keys = server.keys(2)
    keys[0].rollingStartNumber += 100 * 144
    return keys
  }

  private func downloads(
    _ server: RunningKeyServer, _ ledger: inout DescriptionLedger
  ) async throws {
    try await server.exportPeriod()
    for path in ["/health", "/ready"] {
      expectNone(note(try await server.get(path), path, &ledger, method: "get"))
    }
    for root in ["", "v1-eu"] {
      let line = try #require(try await server.lines(of: root).first)
      let file = KeyServerRoute.keyFile("{name}", of: root)
      for (path, requested) in [
        (KeyServerRoute.index(of: root), KeyServerRoute.index(of: root)), (file, "/" + line),
        (file, KeyServerRoute.keyFile("1-2-00001.zip", of: root)),
        (KeyServerRoute.remoteConfiguration, KeyServerRoute.remoteConfiguration),
        (KeyServerRoute.deviceConfiguration, KeyServerRoute.deviceConfiguration),
      ] {
        let answer = try await server.get(requested)
        expectNone(note(answer, path, &ledger, method: "get"))
        guard let tag = answer.headers["etag"] else { continue }
        let again = try await server.get(requested, headers: [("If-None-Match", tag)])
        #expect(again.status == 304 && again.body.isEmpty)
        expectNone(
          ledger.note(again.body, status: 304, type: nil, method: "get", path: path))
        let other = try await server.get(requested, headers: [("If-Match", "\"x\"")])
        #expect(other.status == 412 && other.body.isEmpty)
        expectNone(
          ledger.note(other.body, status: 412, type: nil, method: "get", path: path))
      }
    }
  }

  private func withoutDeviceConfiguration(_ ledger: inout DescriptionLedger) async throws {
    var answer: Answer?
    try await RunningKeyServer.run { server in
      answer = try await server.get(KeyServerRoute.deviceConfiguration)
    }
    expectNone(
      note(try #require(answer), KeyServerRoute.deviceConfiguration, &ledger, method: "get"))
  }

  /// Concurrent clients on all routes that send one byte and then stop.
  private func slow(
    _ server: RunningKeyServer, _ ledger: inout DescriptionLedger
  ) async throws {
    let answers = try await withThrowingTaskGroup(of: (String, RawPost.Answer).self) { group in
      for path in Self.posts {
        group.addTask {
          let post = RawPost(port: server.port, path: path)
          return (path, try await post.answer(sending: Data("{".utf8), announced: 100))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for (path, answer) in answers {
      #expect(answer.status == 408)
      expectNone(
        ledger.note(
          answer.body, status: answer.status, type: answer.headers["content-type"], path: path))
    }
  }

  private func failing(
    _ server: RunningKeyServer, _ ledger: inout DescriptionLedger
  ) async throws {
    let scene = PublishScene(server: server)
    for table in ["upload", "statistic", "server_state"] {
      try server.change("ALTER TABLE \(table) RENAME TO away_\(table)")
    }
    let answers = [
      (KeyServerRoute.upload, try await server.upload(server.request(server.keys(1)))),
      (KeyServerRoute.publish, try await scene.publish(scene.request(scene.keys(1))).http),
      (
        KeyServerRoute.statistics,
        try await server.post(
          Data("{}".utf8), to: KeyServerRoute.statistics,
          headers: [("Authorization", "Bearer \(try statisticsToken(server))")])
      ),
    ]
    for (path, answer) in answers {
      #expect(answer.status == 503 && answer.headers["retry-after"] != nil, "\(path)")
      expectNone(note(answer, path, &ledger))
    }
    try await Patience.until { try await server.get("/ready").status == 503 }
    expectNone(note(try await server.get("/ready"), "/ready", &ledger, method: "get"))
  }

  /// No request makes these routes respond with 500, so failing routes with the same error formats replace them.
  private func internalError(_ ledger: inout DescriptionLedger) async throws {
    struct Broken: Error {}
    let router = Router.quiet(refusals: .callable, randomness: SystemRandomness())
    for path in Self.posts {
      let isSeed = path == KeyServerRoute.upload
      router.post(
        RouterPath(path),
        QuietRoute<Bool>(
          limit: BodyLimit(bytesMax: 100), refusals: isSeed ? .callable : .publish,
          shape: isSeed ? ResponseShape() : .publish, randomness: SystemRandomness(),
          read: { _ in true }, decoy: { _ in throw Broken() }, respond: { _ in throw Broken() }))
    }
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = QuietServer(router: router, host: "127.0.0.1", port: 0, logger: logger)
    let running = Task { try await server.run() }
    let port = await server.boundPort
    for path in Self.posts {
      let answer = try await RawPost(port: port, path: path).answer(sending: Data("{}".utf8))
      #expect(answer.status == 500)
      expectNone(
        ledger.note(
          answer.body, status: answer.status, type: answer.headers["content-type"], path: path))
    }
    running.cancel()
    _ = await running.result
  }

  @Test("A response that does not match the description is detected")
  func control() async throws {
    try await RunningKeyServer.run(Self.withTravellers) { server in
      let description = try Self.described(try await server.get("/openapi.json").body)
      let json = "application/json; charset=utf-8"
      for (body, status, type, faults) in [
        (#"{"result":"","padding":""}"#, 200, json, 0),
        (#"{"result":1,"padding":""}"#, 200, json, 1),
        (#"{"padding":""}"#, 200, json, 1), (#"{"result":"","padding":"","x":1}"#, 200, json, 1),
        (#"{"result":"","padding":""}"#, 202, json, 1), ("{}", 200, "text/plain", 1),
        (#"{"error":{"message":"","status":"STRANGE"},"padding":""}"#, 400, json, 1),
      ] {
        var ledger = DescriptionLedger(description)
        let found = ledger.note(
          Data(body.utf8), status: status, type: type, path: KeyServerRoute.upload)
        #expect(found.count == faults, "\(body) \(found)")
        #expect(ledger.unanswered.count >= description.answers.count - 1)
      }
      var ledger = DescriptionLedger(description)
      #expect(ledger.note(Data("{}".utf8), status: 200, type: json, path: "/console").count == 1)
    }
  }

  private func note(
    _ answer: Answer, _ path: String, _ ledger: inout DescriptionLedger, method: String = "post"
  ) -> [String] {
    ledger.note(
      answer.body, status: Int(answer.status), type: answer.headers["content-type"],
      method: method, path: path)
  }

  private func expectNone(
    _ faults: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(faults == [], sourceLocation: sourceLocation)
  }

  private func statisticsToken(_ server: RunningKeyServer) throws -> String {
    let signing = try SigningKey(
      keyID: "t1", privateKeyPEM: server.authority.tokenKey.pemRepresentation)
    let end = Int64(server.clock.now.timeIntervalSince1970) + 86_400
    return try CompactToken.text(Claims(exp: end), signedBy: signing)
  }

  private struct Claims: Encodable {
    var iss = "codes"
    var aud = "keyserver"
    var exp: Int64
  }
}

// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import TestSupport
import Testing

@testable import KeyServer

@Suite("Device check of uploads")
struct DeviceCheckTests {
  private let key = P256.Signing.PrivateKey()

  /// Runs a key server with a DeviceCheck server that is in `mode`.
  private func run(
    _ mode: DeviceCheckTestServer.Mode, _ change: (inout KeyServerConfiguration) -> Void = { _ in },
    _ body: (RunningKeyServer, DeviceCheckTestServer) async throws -> Void
  ) async throws {
    try await DeviceCheckTestServer.run(publicKey: key.publicKey, mode) { deviceCheck in
      let url = await deviceCheck.url
      try await RunningKeyServer.run({
        $0.deviceVerificationPlatforms = ["ios"]
        $0.deviceCheck = DeviceCheckConfiguration(
          baseURL: url, teamID: "TEAM", keyID: "K1", privateKeyPEM: key.pemRepresentation)
        // Only a server that sends no response is to time out.
        if mode != .silent { $0.deviceCheckSeconds = Patience.seconds }
        change(&$0)
      }) { server in try await body(server, deviceCheck) }
    }
  }

  /// A request with an attestation that was made `age` seconds ago.
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

  @Test(
    "An upload of a genuine device is accepted, and the DeviceCheck request is as Apple documents it"
  )
  func genuine() async throws {
    try await run(.accepts) { server, deviceCheck in
      #expect(try await server.upload(request(server)).status == 200)
      let received = try #require(await deviceCheck.requests.first)
      #expect(received.path == "/v1/validate_device_token")
      #expect(received.isSignedByTeam)
      #expect(received.deviceToken == Data("device".utf8).base64EncodedString())
      #expect(received.transactionID.count == 64)
      #expect(received.timestamp == Int64(server.clock.now.timeIntervalSince1970) * 1_000)
    }
  }

  @Test("An upload that DeviceCheck rejects gets 403, and its token stays valid")
  func notGenuine() async throws {
    try await run(.rejects) { server, deviceCheck in
      let request = try await request(server)
      let response = try await server.upload(request)
      #expect((response.status, response.errorStatus) == (403, "PERMISSION_DENIED"))
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
      await deviceCheck.set(.accepts)
      #expect(try await server.upload(request).status == 200)
    }
  }

  @Test(
    "If DeviceCheck rejects our key, is overloaded, fails or times out, the upload gets 503",
    arguments: [DeviceCheckTestServer.Mode.unauthorized, .rateLimited, .fails, .silent])
  func unavailable(mode: DeviceCheckTestServer.Mode) async throws {
    try await run(mode) { server, _ in
      let response = try await server.upload(request(server))
      #expect((response.status, response.errorStatus) == (503, "UNAVAILABLE"))
      #expect(response.headers["retry-after"] != nil)
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
    }
  }

  @Test("A redirect by DeviceCheck is not followed, and the upload gets 503")
  func redirection() async throws {
    try await run(.redirects) { server, deviceCheck async throws in
      try await DeviceCheckTestServer.run(publicKey: key.publicKey, .accepts) {
        other async throws in
        await deviceCheck.redirect(to: other.url)
        #expect(try await server.upload(request(server)).status == 503)
        #expect(await deviceCheck.requests.count == 1)
        #expect(await other.requests.isEmpty)
      }
    }
  }

  @Test(
    "A DeviceCheck response longer than the limit counts as unreadable",
    arguments: [(-1, UInt(200)), (0, 200), (1, 503)])
  func responseLength(offset: Int, status: UInt) async throws {
    try await run(.accepts) { server, deviceCheck async throws in
      await deviceCheck.set(bodyByteCount: KeyServerLimit.deviceCheckResponseBytesMax + offset)
      #expect(try await server.upload(request(server)).status == status)
    }
  }

  @Test("A DeviceCheck failure costs the client no attempt")
  func unavailableIsFree() async throws {
    try await run(.fails, { $0.uploadAttempts = 2 }) { server, deviceCheck async throws in
      for _ in 0..<3 { #expect(try await server.upload(request(server)).status == 503) }
      await deviceCheck.set(.accepts)
      #expect(try await server.upload(request(server)).status == 200)
    }
  }

  @Test("If DeviceCheck is unreachable, the upload gets 503")
  func unreachable() async throws {
    try await RunningKeyServer.run({
      $0.deviceVerificationPlatforms = ["ios"]
      $0.deviceCheck = DeviceCheckConfiguration(
        baseURL: URL(fileURLWithPath: "/"), teamID: "TEAM", keyID: "K1",
        privateKeyPEM: key.pemRepresentation)
    }) { server in
      let response = try await server.upload(request(server))
      #expect(response.status == 503)
    }
  }

  @Test("A missing, foreign or unreadable attestation is rejected without a DeviceCheck request")
  func notBound() async throws {
    try await run(.accepts) { server, deviceCheck in
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
      #expect(await deviceCheck.requests.isEmpty)
    }
  }

  @Test(
    "An attestation may be ten minutes old or ahead, and not more",
    arguments: [(-601, 403), (-600, 200), (-599, 200), (599, 200), (600, 200), (601, 403)])
  func freshness(age: Int, status: UInt) async throws {
    try await run(.accepts) { server, _ in
      let response = try await server.upload(request(server, age: TimeInterval(age)))
      #expect(response.status == status)
    }
  }

  @Test("A repeated upload gets its response even if its attestation has expired")
  func replayAfterProof() async throws {
    try await run(.accepts) { server, deviceCheck in
      let request = try await request(server)
      #expect(try await server.upload(request).status == 200)
      server.clock.advance(by: 1_200)
      #expect(try await server.upload(request).status == 200)
      #expect(await deviceCheck.requests.count == 1)
    }
  }

  @Test(
    "Without DeviceCheck, an attestation must still be recent and for these keys")
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

  @Test("By default, uploads of iOS need an attestation")
  func byDefault() {
    let nowhere = URL(fileURLWithPath: "/dev/null")
    let configuration = KeyServerConfiguration(
      port: 0, databaseFile: nowhere, databaseKey: Data(repeating: 7, count: 32),
      exportFolder: nowhere, regions: [], appPackages: [],
      tokenIssuer: "a", tokenAudience: "b", tokenPublicKeysPEM: [:], exportSigners: [],
      region: "PL", deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
    #expect(configuration.deviceVerificationPlatforms == ["ios"])
  }

  @Test("An app that is not the team's is rejected without a DeviceCheck request")
  func bundles() async throws {
    for (bundles, status, requests) in [
      (["another.app"], 403, 0), (["another.app", "pl.gov.mc.protegosafe"], 200, 1), ([], 200, 1),
    ] as [(Set<String>, UInt, Int)] {
      try await run(.accepts, { $0.deviceCheck?.bundleIDs = bundles }) {
        server, deviceCheck async throws in
        #expect(try await server.upload(request(server)).status == status)
        #expect(await deviceCheck.requests.count == requests)
      }
    }
  }

  @Test("Other platforms need no attestation")
  func otherPlatform() async throws {
    try await run(.rejects) { server, deviceCheck in
      let request = try await server.request(server.keys()) { $0.data.platform = "android" }
      #expect(try await server.upload(request).status == 200)
      #expect(await deviceCheck.requests.isEmpty)
    }
  }

  @Test("Invalid keys are rejected before the DeviceCheck request")
  func rulesFirst() async throws {
    try await run(.accepts) { server, deviceCheck in
      let response = try await server.upload(request(server, keys: []))
      #expect(response.status == 400)
      #expect(await deviceCheck.requests.isEmpty)
    }
  }
}

/// A DeviceCheck server on a free local port, which responds as the test sets it up.
actor DeviceCheckTestServer {
  /// The HTTP status of the responses.
  enum Mode: Int, Sendable {
    case accepts = 200
    case redirects = 307
    case rejects = 400
    case unauthorized = 401
    case rateLimited = 429
    case fails = 500
    /// No response at all.
    case silent = 0
  }

  struct ReceivedRequest: Sendable {
    var path: String
    var isSignedByTeam: Bool
    var deviceToken: String
    var transactionID: String
    var timestamp: Int64
  }

  private(set) var url = URL(fileURLWithPath: "/")
  private(set) var requests: [ReceivedRequest] = []
  private var mode: Mode
  private var bodyByteCount = 0
  private var redirection: URL?

  func set(_ mode: Mode) { self.mode = mode }
  func redirect(to url: URL) { redirection = url }
  func set(bodyByteCount: Int) { self.bodyByteCount = bodyByteCount }

  /// Runs `body` with a server that knows the team's `publicKey`.
  static func run(
    publicKey: P256.Signing.PublicKey, _ mode: Mode,
    _ body: (DeviceCheckTestServer) async throws -> Void
  ) async throws {
    let server = DeviceCheckTestServer(mode)
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let router = Router()
    router.post("**") { request, _ in try await server.response(to: request, publicKey) }
    var logger = Logger(label: "DeviceCheck test server")
    logger.logLevel = .critical
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
    let running = Task { try await application.run() }
    for await port in ports {
      await server.listens(on: port)
      break
    }
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(server))
    } catch {
      result = .failure(error)
    }
    // Stopping a server while it accepts a connection traps in SwiftNIO, and a request may have timed out before its
    // connection was accepted. Connections are accepted in order: after this response no earlier one is pending.
    _ = try? await LoopbackClient.send("GET", server.url.absoluteString)
    running.cancel()
    _ = await running.result
    try result.get()
  }

  private init(_ mode: Mode) {
    self.mode = mode
  }

  private func listens(on port: Int) {
    url = URL(string: "http://127.0.0.1:\(port)") ?? url
  }

  private func response(
    to request: Request, _ publicKey: P256.Signing.PublicKey
  ) async throws -> Response {
    let body = try await request.body.collect(upTo: 1 << 16)
    let json =
      try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
    requests.append(
      ReceivedRequest(
        path: request.uri.path,
        isSignedByTeam: Self.isSigned(request, by: publicKey),
        deviceToken: json?["device_token"] as? String ?? "",
        transactionID: json?["transaction_id"] as? String ?? "",
        timestamp: (json?["timestamp"] as? NSNumber)?.int64Value ?? 0))
    if mode == .silent { try await Task.sleep(for: .seconds(3_600)) }
    return Response(
      status: .init(code: mode.rawValue),
      headers: redirection.map {
        [.location: "\($0.absoluteString)\(request.uri.path)"]
      } ?? [:],
      body: .init(byteBuffer: ByteBuffer(repeating: 0x20, count: bodyByteCount)))
  }

  /// True if the bearer token is an ES256 token of the team, now, under its key id. It is read here without
  /// the code that writes it.
  private static func isSigned(
    _ request: Request, by publicKey: P256.Signing.PublicKey
  ) -> Bool {
    guard let header = request.headers[.authorization], header.hasPrefix("Bearer ") else {
      return false
    }
    let parts = header.dropFirst("Bearer ".count).split(
      separator: ".", omittingEmptySubsequences: false)
    let bytes = parts.compactMap { base64URL(String($0)) }
    guard parts.count == 3, bytes.count == 3,
      let head = try? JSONSerialization.jsonObject(with: bytes[0]) as? [String: String],
      let claims = try? JSONSerialization.jsonObject(with: bytes[1]) as? [String: Any],
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes[2]),
      publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
    else { return false }
    let start = Int64(RunningKeyServer.start.timeIntervalSince1970)
    return head == ["alg": "ES256", "kid": "K1", "typ": "JWT"] && claims.count == 2
      && claims["iss"] as? String == "TEAM"
      && (claims["iat"] as? NSNumber)?.int64Value == start
  }

  private static func base64URL(_ text: String) -> Data? {
    let text = text.replacing("-", with: "+").replacing("_", with: "/")
    return Data(
      base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
  }
}

// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Crypto
import Foundation
import GRDB
import Logging
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

/// A verification server on the loopback interface, with functions to send requests to it.
struct RunningServer {
  static let apiToken = "an-operators-token"

  let server: VerificationServer
  let clock: ManualClock
  let log: CollectedLog
  let verifier: UploadTokenVerifier
  let certificates: CertificateVerifier
  let configuration: VerificationServerConfiguration
  let deviceKey: String
  let adminKey: String
  let port: Int
  /// The public key of tokens and certificates.
  let signingKeyPEM: String

  /// Waits until the server's own removal of expired data sleeps.
  func untilIdle() async throws {
    try await Patience.until { clock.sleeperCount == 1 }
  }

  /// Another connection to the database, which waits for the transactions of the server.
  func database() throws -> DatabaseQueue {
    try DatabaseQueue(waitingAt: configuration.databaseFile.path)
  }

  /// Starts a server with its database in `folder`, runs `test`, and stops the server.
  static func run(
    in folder: URL, attempts: AttemptLimits = AttemptLimits(perAddress: 1_000),
    configure: (inout VerificationServerConfiguration) throws -> Void = { _ in },
    _ test: (RunningServer) async throws -> Void
  ) async throws {
    let clock = ManualClock(VerificationBench.start)
    let log = CollectedLog()
    let key = P256.Signing.PrivateKey()
    var configuration = VerificationServerConfiguration(
      databaseFile: folder.appendingPathComponent("verification.sqlite"), apiTokens: [apiToken],
      codeHashKey: [UInt8](repeating: 7, count: 32), signing: try VerificationBench.issuer(key),
      attempts: attempts)
    try configure(&configuration)
    let apiKeys = try APIKeys(
      configuration: configuration, clock: clock, randomness: SystemRandomness())
    let (deviceKey, adminKey) = (
      try await apiKeys.add(kind: .device, name: "an app"),
      try await apiKeys.add(kind: .admin, name: "a laboratory")
    )
    let server = try VerificationServer(
      configuration: configuration, clock: clock, randomness: SystemRandomness(),
      logger: log.logger)
    let verifier = try UploadTokenVerifier(
      issuer: "verification", audience: "keys",
      publicKeysPEM: ["v1": key.publicKey.pemRepresentation])
    let run = Task { try await server.run() }
    defer { run.cancel() }
    let port = await server.boundPort
    try await test(
      RunningServer(
        server: server, clock: clock, log: log, verifier: verifier,
        certificates: CertificateVerifier(authorities: [
          try CertificateAuthority(issuer: "verification", audience: "keys")
            .adding(keyID: "v1", publicKeyPEM: key.publicKey.pemRepresentation)
        ]), configuration: configuration, deviceKey: deviceKey, adminKey: adminKey, port: port,
        signingKeyPEM: key.publicKey.pemRepresentation))
    run.cancel()
    _ = await run.result
  }

  struct Response {
    var status: Int
    var headers: [String: String]
    var body: Data
    var failure: CallableFailure? { try? JSONDecoder().decode(CallableFailure.self, from: body) }
    var token: String? {
      try? JSONDecoder().decode(CallableResponse<AccessTokenResponse>.self, from: body)
        .result.accessToken
    }
    var codes: [String]? {
      try? JSONDecoder().decode(CallableResponse<[String]>.self, from: body).result
    }
    var code: String? {
      try? JSONDecoder().decode(CallableResponse<String>.self, from: body).result
    }
  }

  func post(
    _ path: String, _ body: String, contentType: String? = "application/json",
    headers: [String: String] = [:], port other: Int? = nil
  ) async throws -> Response {
    let fields = contentType.map { headers.merging(["content-type": $0]) { $1 } } ?? headers
    return try await send("POST", path, fields, Data(body.utf8), port: other)
  }

  func get(
    _ path: String, headers: [String: String] = [:], port other: Int? = nil
  ) async throws -> Response {
    try await send("GET", path, headers, nil, port: other)
  }

  private func send(
    _ method: String, _ path: String, _ headers: [String: String], _ body: Data?, port other: Int?
  ) async throws -> Response {
    let response = try await LoopbackClient.send(
      method, "http://127.0.0.1:\(other ?? port)\(path)",
      headers: headers.map { ($0.key, $0.value) }, body: body)
    return Response(status: response.status, headers: response.headers, body: response.body)
  }

  func apiKeys() throws -> APIKeys {
    try APIKeys(configuration: configuration, clock: clock, randomness: SystemRandomness())
  }

  func newKey(_ kind: APIKeyKind) async throws -> String {
    try await apiKeys().add(kind: kind, name: "another")
  }

  func generate(_ body: String = #"{"data":{}}"#, headers: [String: String] = [:]) async throws
    -> Response
  {
    let own = [VerificationRoute.apiTokenHeader: Self.apiToken]
    return try await post(
      VerificationRoute.generateCode, body, headers: own.merging(headers) { $1 })
  }

  func redeem(_ code: String, ekeyhmac: String? = nil, headers: [String: String] = [:])
    async throws -> Response
  {
    let request = CallableRequest(data: AccessTokenRequest(code: code, ekeyhmac: ekeyhmac))
    let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
    return try await post(VerificationRoute.accessToken, body, headers: headers)
  }

  func newCode(_ body: String = #"{"data":{}}"#) async throws -> String {
    try #require(try await generate(body).code)
  }

  func grant(of response: Response) async throws -> UploadGrant {
    let token = UnverifiedUploadToken(try #require(response.token))
    return try await verifier.verified(token, at: clock.now).grant
  }
}

/// Requests of Google's contract.
extension RunningServer {
  static let keyHMAC = Data(repeating: 3, count: 32)

  /// Sends a request with the device key.
  func device(_ path: String, _ body: String, headers: [String: String] = [:]) async throws
    -> Response
  {
    try await post(path, body, headers: ["X-API-Key": deviceKey].merging(headers) { $1 })
  }

  /// Sends a request with the admin key.
  func admin(_ path: String, _ body: String, headers: [String: String] = [:]) async throws
    -> Response
  {
    try await post(path, body, headers: ["X-API-Key": adminKey].merging(headers) { $1 })
  }

  func issue(_ body: String = #"{"testType":"confirmed"}"#) async throws -> IssueResponse {
    let response = try await admin(VerificationRoute.issue, body)
    try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try JSONDecoder().decode(IssueResponse.self, from: response.body)
  }

  func verify(_ code: String, accept: [String]? = nil, nonce: String? = nil) async throws
    -> Response
  {
    let request = VerifyRequest(code: code, accept: accept, nonce: nonce)
    return try await device(
      VerificationRoute.verify, String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
  }

  func verified(_ code: String) async throws -> VerifyResponse {
    try JSONDecoder().decode(VerifyResponse.self, from: try await verify(code).body)
  }

  func certify(_ token: String, keyHMAC: Data = Self.keyHMAC) async throws -> Response {
    let request = CertificateRequest(token: token, ekeyhmac: keyHMAC.base64EncodedString())
    return try await device(
      VerificationRoute.certificate,
      String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
  }

  func certificate(in response: Response) throws -> VerificationCertificate {
    let text = try JSONDecoder().decode(CertificateResponse.self, from: response.body)
    return try certificates.verified(text.unverified, at: clock.now).certificate
  }

  func status(of uuid: String, _ path: String = VerificationRoute.checkCodeStatus) async throws
    -> CodeStatusResponse
  {
    let response = try await admin(path, #"{"uuid":"\#(uuid)"}"#)
    return try JSONDecoder().decode(CodeStatusResponse.self, from: response.body)
  }
}

extension RunningServer.Response {
  /// The status and error code of an error of Google's contract; nil for other responses.
  var refusal: String? {
    guard let failure = try? JSONDecoder().decode(VerificationFailure.self, from: body),
      failure.errorCode == failure.legacyErrorCode
    else { return nil }
    return "\(status) \(failure.errorCode.rawValue)"
  }
}

import CallableEnvelope
import Crypto
import Foundation
import FoundationNetworking
import Logging
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

/// A verification server that listens on loopback, asked over real HTTP.
struct RunningServer {
  static let apiToken = "an-operators-token"

  let server: VerificationServer
  let clock: HandClock
  let log: CollectedLog
  let verifier: UploadTokenVerifier
  let certificates: CertificateVerifier
  let configuration: VerificationServerConfiguration
  let deviceKey: String
  let adminKey: String
  let port: Int
  /// The public half of the key that signs tokens and certificates.
  let signingKeyPEM: String

  /// Starts a server on `folder`, lets `story` happen, and stops it.
  static func run(
    in folder: URL, attempts: AttemptLimits = AttemptLimits(perAddress: 1_000),
    configure: (inout VerificationServerConfiguration) throws -> Void = { _ in },
    _ story: (RunningServer) async throws -> Void
  ) async throws {
    let clock = HandClock()
    let log = CollectedLog()
    let key = P256.Signing.PrivateKey()
    var configuration = VerificationServerConfiguration(
      databaseFile: folder.appendingPathComponent("verification.sqlite"), apiTokens: [apiToken],
      codeHashKey: [UInt8](repeating: 7, count: 32), signing: try VerificationBench.issuer(key),
      attempts: attempts)
    try configure(&configuration)
    let desk = try ApiKeyDesk(
      configuration: configuration, clock: clock, randomness: SystemRandomness())
    let (deviceKey, adminKey) = (
      try await desk.add(kind: .device, name: "an app"),
      try await desk.add(kind: .admin, name: "a laboratory")
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
    try await story(
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

  struct Answer {
    var status: Int
    var headers: [String: String]
    var body: Data
    var failure: CallableFailure? { try? JSONDecoder().decode(CallableFailure.self, from: body) }
    var token: String? {
      try? JSONDecoder().decode(CallableAnswer<AccessTokenAnswer>.self, from: body)
        .result.accessToken
    }
    var codes: [String]? {
      try? JSONDecoder().decode(CallableAnswer<[String]>.self, from: body).result
    }
    var code: String? {
      try? JSONDecoder().decode(CallableAnswer<String>.self, from: body).result
    }
  }

  func post(
    _ path: String, _ body: String, contentType: String? = "application/json",
    headers: [String: String] = [:], port other: Int? = nil
  ) async throws -> Answer {
    let url = try #require(URL(string: "http://127.0.0.1:\(other ?? port)\(path)"))
    var request = URLRequest(url: url, timeoutInterval: TimeInterval(Patience.seconds))
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    if let contentType { request.setValue(contentType, forHTTPHeaderField: "content-type") }
    let (bytes, response) = try await URLSession.shared.data(for: request)
    let answer = try #require(response as? HTTPURLResponse)
    let fields = answer.allHeaderFields.map { ("\($0)".lowercased(), "\($1)") }
    return Answer(
      status: answer.statusCode, headers: Dictionary(fields) { first, _ in first }, body: bytes)
  }

  func get(_ path: String) async throws -> Answer {
    let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
    let request = URLRequest(url: url, timeoutInterval: TimeInterval(Patience.seconds))
    let (bytes, response) = try await URLSession.shared.data(for: request)
    let answer = try #require(response as? HTTPURLResponse)
    let fields = answer.allHeaderFields.map { ("\($0)".lowercased(), "\($1)") }
    return Answer(
      status: answer.statusCode, headers: Dictionary(fields) { first, _ in first }, body: bytes)
  }

  func desk() throws -> ApiKeyDesk {
    try ApiKeyDesk(configuration: configuration, clock: clock, randomness: SystemRandomness())
  }

  func newKey(_ kind: ApiKeyKind) async throws -> String {
    try await desk().add(kind: kind, name: "another")
  }

  func generate(_ body: String = #"{"data":{}}"#, headers: [String: String] = [:]) async throws
    -> Answer
  {
    let own = [VerificationRoute.apiTokenHeader: Self.apiToken]
    return try await post(
      VerificationRoute.generateCode, body, headers: own.merging(headers) { $1 })
  }

  func redeem(_ code: String, ekeyhmac: String? = nil, headers: [String: String] = [:])
    async throws -> Answer
  {
    let request = CallableRequest(data: AccessTokenRequest(code: code, ekeyhmac: ekeyhmac))
    let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
    return try await post(VerificationRoute.accessToken, body, headers: headers)
  }

  func newCode(_ body: String = #"{"data":{}}"#) async throws -> String {
    try #require(try await generate(body).code)
  }

  func grant(of answer: Answer) async throws -> UploadGrant {
    let token = UnverifiedUploadToken(try #require(answer.token))
    return try await verifier.verified(token, at: clock.now).grant
  }
}

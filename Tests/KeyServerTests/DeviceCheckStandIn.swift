import Crypto
import Foundation
import Hummingbird
import JWTKit
import Logging

/// A device check authority on a free port of this machine, that says what the test tells it to.
actor DeviceCheckStandIn {
  enum Says: Int, Sendable {
    case yes = 200
    case no = 400
    case notYou = 401
    case tooMany = 429
    case broken = 500
    /// Says that another is to be asked.
    case elsewhere = 307
    /// Says nothing.
    case silent = 0
  }

  /// What it was asked.
  struct Question: Sendable {
    var path: String
    var isSignedByTeam: Bool
    var deviceToken: String
    var transactionID: String
    var timestamp: Int64
  }

  private(set) var url = URL(fileURLWithPath: "/")
  private(set) var questions: [Question] = []
  private var says: Says
  /// Bytes of the body that comes with what it says.
  private var answerBytes = 0
  /// Who is to be asked instead.
  private var other: URL?

  func now(says: Says) { self.says = says }
  func now(sendsTo other: URL) { self.other = other }
  func now(answerBytes: Int) { self.answerBytes = answerBytes }

  /// Runs `body` with an authority that knows the team by `publicKey`.
  static func run(
    publicKey: P256.Signing.PublicKey, says: Says,
    _ body: (DeviceCheckStandIn) async throws -> Void
  ) async throws {
    let authority = DeviceCheckStandIn(says: says)
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let router = Router()
    router.post("**") { request, _ in try await authority.answer(request, publicKey: publicKey) }
    var logger = Logger(label: "stand-in")
    logger.logLevel = .critical
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
    let running = Task { try await application.run() }
    defer { running.cancel() }
    for await port in ports {
      await authority.listens(on: port)
      break
    }
    try await body(authority)
  }

  private init(says: Says) {
    self.says = says
  }

  private func listens(on port: Int) {
    url = URL(string: "http://127.0.0.1:\(port)") ?? url
  }

  private func answer(
    _ request: Request, publicKey: P256.Signing.PublicKey
  ) async throws -> Response {
    let body = try await request.body.collect(upTo: 1 << 16)
    let json =
      try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
    questions.append(
      Question(
        path: request.uri.path,
        isSignedByTeam: await Self.isSigned(request, by: publicKey),
        deviceToken: json?["device_token"] as? String ?? "",
        transactionID: json?["transaction_id"] as? String ?? "",
        timestamp: (json?["timestamp"] as? NSNumber)?.int64Value ?? 0))
    if says == .silent { try await Task.sleep(for: .seconds(3_600)) }
    return Response(
      status: .init(code: says.rawValue),
      headers: other.map { [.location: "\($0.absoluteString)\(request.uri.path)"] } ?? [:],
      body: .init(byteBuffer: ByteBuffer(repeating: 0x20, count: answerBytes)))
  }

  private struct Claims: JWTPayload {
    var iss: String
    var iat: Int64
    func verify(using algorithm: some JWTAlgorithm) async throws {}
  }

  /// Whether the bearer token is the team's, under the key id it announced.
  private static func isSigned(
    _ request: Request, by publicKey: P256.Signing.PublicKey
  ) async -> Bool {
    guard let header = request.headers[.authorization], header.hasPrefix("Bearer "),
      let key = try? ES256PublicKey(pem: publicKey.pemRepresentation)
    else { return false }
    let text = String(header.dropFirst("Bearer ".count))
    let keys = await JWTKeyCollection().add(ecdsa: key, kid: "K1")
    let claims = try? await keys.verify(text, as: Claims.self)
    let head = Data(base64Encoded: String(text.prefix { $0 != "." }).padded) ?? Data()
    return claims?.iss == "TEAM" && String(decoding: head, as: UTF8.self).contains(#""kid":"K1""#)
  }
}

extension String {
  /// Base64url without its padding, as base64 with it.
  fileprivate var padded: String {
    let text = replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    return text + String(repeating: "=", count: (4 - text.count % 4) % 4)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServiceLifecycle
import TextEncodings
import World

/// A simulation of Apple's DeviceCheck: it issues tokens to phones and validates them for a server.
///
/// The contract is Apple's ("Accessing and modifying per-device data"): an ES256 token authorizes the
/// team; a request has the device's token, a transaction ID and a time in milliseconds. A device token is
/// valid for one transaction, which may be repeated after a lost response.
public actor SimulatedDeviceCheck {
  /// The result of a validation.
  enum ValidationResult: Equatable {
    /// A genuine device of this team.
    case genuine
    /// The authorization token is invalid.
    case unknownTeam
    /// The device token is unknown.
    case unknownDevice
    /// The device token was used for another transaction.
    case replayed
    /// The request is too old or from the future.
    case stale
  }

  /// The length of a device token, in bytes.
  static let tokenBytes = 32
  /// The largest difference between a request's time and the clock, in seconds.
  static let freshnessSeconds: TimeInterval = 600

  private let team: DeviceCheckTeam
  private let clock: any WallClock
  private let randomness: any Randomness
  private var unused: Set<Data> = []
  private var transactions: [Data: String] = [:]

  /// Creates a simulation with one team.
  public init(team: DeviceCheckTeam, clock: any WallClock, randomness: any Randomness) {
    self.team = team
    self.clock = clock
    self.randomness = randomness
  }

  /// Issues a device token.
  public func issueToken() -> Data {
    let token = Data(randomness.bytes(Self.tokenBytes))
    unused.insert(token)
    return token
  }

  /// The number of validated device tokens.
  public var validatedCount: Int { transactions.count }

  func result(for request: DeviceCheckRequest, authorizedBy authorization: String)
    -> ValidationResult
  {
    guard team.isAuthorized(by: authorization, at: clock.now) else { return .unknownTeam }
    let sent = Date(unixMillisecond: request.timestamp)
    guard abs(sent.timeIntervalSince(clock.now)) <= Self.freshnessSeconds else { return .stale }
    guard let token = Data(base64Encoded: request.device_token) else { return .unknownDevice }
    if let earlier = transactions[token] {
      return earlier == request.transaction_id ? .genuine : .replayed
    }
    guard unused.remove(token) != nil else { return .unknownDevice }
    transactions[token] = request.transaction_id
    return .genuine
  }
}

/// Serves a `SimulatedDeviceCheck` on loopback, at Apple's path.
public struct SimulatedDeviceCheckServer: Service {
  /// The maximum length of a request, in bytes.
  static let requestBytesMax = 16 << 10

  private let server: QuietServer

  /// Creates a server on a free port.
  public init(_ authority: SimulatedDeviceCheck, logger: Logger) {
    let router = Router(context: QuietContext.self)
    router.post("/v1/validate_device_token") { request, _ in
      try await Self.respond(request, authority: authority)
    }
    server = QuietServer(router: router, host: "127.0.0.1", port: 0, logger: logger)
  }

  /// The port, once the server listens.
  public var boundPort: Int {
    get async { await server.boundPort }
  }

  public func run() async throws {
    try await server.run()
  }

  private static func respond(
    _ request: Request, authority: SimulatedDeviceCheck
  ) async throws -> Response {
    let body = try await request.body.collect(upTo: requestBytesMax)
    guard
      let validation = JSONDecoder().decodeIfValid(
        DeviceCheckRequest.self, from: Data(body.readableBytesView))
    else { return rejection(.badRequest, "Missing or incorrectly formatted device token payload") }
    let authorization = request.headers[.authorization].map { $0.dropFirst("Bearer ".count) } ?? ""
    switch await authority.result(for: validation, authorizedBy: String(authorization)) {
    case .genuine: return Response(status: .ok)
    case .unknownTeam: return rejection(.unauthorized, "Unable to verify authorization token")
    case .stale: return rejection(.badRequest, "Missing or incorrectly formatted time stamp")
    case .unknownDevice, .replayed:
      return rejection(.badRequest, "Unable to verify device token")
    }
  }

  private static func rejection(_ status: HTTPResponse.Status, _ reason: String) -> Response {
    Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(string: reason)))
  }
}

/// A developer team: its ID and the public key that verifies its authorization tokens.
public struct DeviceCheckTeam: Sendable {
  /// The maximum age of an authorization token, in seconds.
  static let authorizationSecondsMax: TimeInterval = 1200

  private let id: String
  private let keyID: String
  private let publicKey: P256.Signing.PublicKey

  /// Creates a team.
  ///
  /// - Throws: If `publicKeyPEM` is not valid PEM.
  public init(id: String, keyID: String, publicKeyPEM: String) throws {
    self.id = id
    self.keyID = keyID
    publicKey = try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM)
  }

  /// Returns `true` if the team signed `authorization`, a compact ES256 token, recently.
  func isAuthorized(by authorization: String, at date: Date) -> Bool {
    let parts = authorization.split(separator: ".", omittingEmptySubsequences: false).map(
      String.init)
    guard parts.count == 3, let header: Header = decode(parts[0]),
      let claims: Claims = decode(parts[1]), let signature = Data(base64URL: parts[2]),
      header.alg == "ES256", header.kid == keyID, claims.iss == id,
      // Bytes without the form of a signature are a wrong one.
      let ecdsa = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
    else { return false }
    let age = date.timeIntervalSince1970 - claims.iat
    return abs(age) <= Self.authorizationSecondsMax
      && publicKey.isValidSignature(ecdsa, for: Data((parts[0] + "." + parts[1]).utf8))
  }

  private struct Header: Decodable {
    let alg: String
    let kid: String
  }

  private struct Claims: Decodable {
    let iss: String
    let iat: Double
  }

  private func decode<Part: Decodable>(_ part: String) -> Part? {
    Data(base64URL: part).flatMap { JSONDecoder().decodeIfValid(Part.self, from: $0) }
  }
}

/// The body of a validation request, with Apple's field names.
struct DeviceCheckRequest: Codable, Sendable {
  /// The device token, in base64.
  let device_token: String
  /// The server's ID of the transaction.
  let transaction_id: String
  /// The time of the request, in milliseconds since 1970.
  let timestamp: Int64
}

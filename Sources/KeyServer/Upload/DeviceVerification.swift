// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import KeyServerAPI
import NIOCore
import NIOHTTP1
import QuietHTTP
import Secrets
import ServerStorage
import UploadToken
import World

/// Requires an attestation of a genuine device for exactly these keys from uploads of some platforms.
///
/// Without a DeviceCheck client only the time and the keys are checked; the device itself is not.
struct DeviceVerification: Sendable {
  let client: DeviceCheckClient?
  /// The apps that DeviceCheck attests for the team; empty for all.
  let bundleIDs: Set<String>
  let requiredPlatforms: Set<String>

  /// True if uploads of this platform need an attestation.
  func isRequired(for payload: UploadPayload) -> Bool {
    requiredPlatforms.contains(payload.platform)
  }

  /// True if the check of this upload sends a request to DeviceCheck.
  func asksAnotherServer(about payload: UploadPayload) -> Bool {
    client != nil && isRequired(for: payload)
  }

  /// Throws if an attestation is required and is not valid.
  func verify(_ payload: UploadPayload, at now: Date) async throws(DeviceVerificationError) {
    guard isRequired(for: payload) else { return }
    guard let text = payload.deviceVerificationPayload else { throw .notGenuine }
    guard let attestation = DeviceVerificationPayload(base64: text) else { throw .unreadable }
    guard attestation.transactionID == Self.transactionID(of: payload),
      Self.isFresh(attestation, at: now)
    else { throw .notGenuine }
    guard let client else { return }
    guard bundleIDs.isEmpty || bundleIDs.contains(payload.appPackageName) else {
      throw .notGenuine
    }
    switch await client.verdict(on: attestation, at: now) {
    case .genuine: return
    case .notGenuine: throw .notGenuine
    case .unknown: throw .unavailable
    }
  }

  private static func transactionID(of payload: UploadPayload) -> String {
    DeviceVerificationPayload.transactionID(
      appPackageName: payload.appPackageName, keys: payload.temporaryExposureKeys,
      regions: payload.regions)
  }

  private static func isFresh(_ attestation: DeviceVerificationPayload, at now: Date) -> Bool {
    let made = Double(attestation.timestampMilliseconds) / 1_000
    return abs(now.timeIntervalSince1970 - made) <= UploadLimit.deviceVerificationAgeSecondsMax
  }
}

/// The reason why an attestation does not pass.
enum DeviceVerificationError: Error {
  /// The attestation is not in the documented form.
  case unreadable
  /// It is missing, expired, made for other keys or by another app, or DeviceCheck rejects it.
  case notGenuine
  /// DeviceCheck does not respond, or reports an error that is not about the device.
  case unavailable
}

/// The access to Apple's DeviceCheck, which verifies that a device token comes from a genuine device.
public struct DeviceCheckConfiguration: Sendable, Redacted {
  /// The address of the service.
  public var baseURL: URL
  /// The developer team.
  public var teamID: String
  /// The id of the team's key that signs requests.
  public var keyID: String
  /// The key: P-256 in PEM, PKCS#8.
  public var privateKeyPEM: String
  /// The team's apps, by their names in uploads. DeviceCheck rejects other apps, so an upload of another app is
  /// rejected without a request. Empty if all apps that may upload belong to the team.
  public var bundleIDs: Set<String>

  /// The address of Apple's production service.
  public static let productionURL =
    URL(string: "https://api.devicecheck.apple.com")
    ?? URL(fileURLWithPath: "/")

  /// The access of one team with one key.
  public init(
    baseURL: URL, teamID: String, keyID: String, privateKeyPEM: String, bundleIDs: Set<String> = []
  ) {
    self.baseURL = baseURL
    self.teamID = teamID
    self.keyID = keyID
    self.privateKeyPEM = privateKeyPEM
    self.bundleIDs = bundleIDs
  }
}

extension DeviceCheckConfiguration {
  public var description: String { "DeviceCheckConfiguration(\(teamID), key \(keyID))" }
}

/// A client of Apple's DeviceCheck: `POST /v1/validate_device_token`.
struct DeviceCheckClient: Sendable {
  /// The result of a request.
  enum Verdict: Hashable, Sendable {
    case genuine
    case notGenuine
    /// A timeout, an unreadable response, or an error that is not about the device.
    case unknown
  }

  private let url: String
  private let teamID: String
  private let key: SigningKey
  private let timeoutSeconds: Int
  private let client: HTTPClient
  private let service: ServiceFailureLog

  init(
    _ configuration: DeviceCheckConfiguration, timeoutSeconds: Int, client: HTTPClient,
    service: ServiceFailureLog
  ) throws(KeyServerError) {
    let key: SigningKey
    do {
      key = try SigningKey(keyID: configuration.keyID, privateKeyPEM: configuration.privateKeyPEM)
    } catch {
      throw .configuration("The device check's privateKeyPEM must be a P-256 private key.")
    }
    url =
      configuration.baseURL.appendingPathComponent("v1")
      .appendingPathComponent("validate_device_token").absoluteString
    teamID = configuration.teamID
    self.key = key
    self.timeoutSeconds = timeoutSeconds
    self.client = client
    self.service = service
  }

  /// Sends the device token in `payload`.
  func verdict(on payload: DeviceVerificationPayload, at now: Date) async -> Verdict {
    do {
      let response = try await client.execute(
        try request(for: payload, at: now),
        timeout: .seconds(Int64(timeoutSeconds)))
      let body = try await response.body.collect(
        upTo: KeyServerLimit.deviceCheckResponseBytesMax)
      let verdict = Self.verdict(status: response.status.code)
      if verdict == .unknown {
        service.failed(Self.text(status: response.status.code, Data(body.readableBytesView)))
      } else {
        service.succeeded()
      }
      return verdict
    } catch {
      service.failed(ErrorCause.text(error))
      return .unknown
    }
  }

  /// The status and the beginning of a response in one line. DeviceCheck answers with a sentence.
  private static func text(status: UInt, _ body: Data) -> String {
    let sentence = String(decoding: body, as: UTF8.self).unicodeScalars
      .map { $0.value < 0x20 || $0.value > 0x7E ? " " : String($0) }.joined()
      .trimmingCharacters(in: .whitespaces).prefix(KeyServerLimit.loggedResponseCharactersMax)
    return sentence.isEmpty ? "status \(status)" : "status \(status), \(sentence)"
  }

  private func request(
    for payload: DeviceVerificationPayload, at now: Date
  ) throws -> HTTPClientRequest {
    let claims = Claims(iss: teamID, iat: now.unixSecond)
    let token = try CompactToken.text(claims, signedBy: key)
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "authorization", value: "Bearer \(token)")
    request.headers.add(name: "content-type", value: "application/json")
    request.body = .bytes(try JSONEncoder().encode(Query(payload)))
    return request
  }

  /// DeviceCheck responds with 400 if it rejects the token; other errors are not about the device.
  private static func verdict(status: UInt) -> Verdict {
    switch status {
    case 200: .genuine
    case 400: .notGenuine
    default: .unknown
    }
  }

  /// The claims of the bearer token.
  private struct Claims: Encodable {
    /// The developer team.
    let iss: String
    /// The time of the request, in Unix seconds.
    let iat: Int64
  }

  /// The body of a request, with Apple's field names.
  private struct Query: Encodable {
    private let deviceToken: String
    private let transactionID: String
    private let timestamp: Int64

    init(_ payload: DeviceVerificationPayload) {
      deviceToken = payload.deviceToken.base64EncodedString()
      transactionID = payload.transactionID
      timestamp = payload.timestampMilliseconds
    }

    private enum CodingKeys: String, CodingKey {
      case deviceToken = "device_token"
      case transactionID = "transaction_id"
      case timestamp
    }
  }
}

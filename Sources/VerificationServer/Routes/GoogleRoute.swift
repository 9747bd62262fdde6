// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import ServerStorage
import VerificationAPI
import World

/// A route of Google's contract: strict JSON of up to 64,000 bytes, an API key, and its error body.
struct GoogleRoute<Body: Decodable & NamedFields & Sendable>: Sendable {
  typealias Request = QuietRequest<Strict<Body>>
  typealias DecoyRequest = QuietRequest<Strict<Body>?>

  let gate: APIKeyGate
  let randomness: any Randomness

  func add(
    _ path: String, to router: Router<QuietContext>,
    decoy: @escaping @Sendable (DecoyRequest) async throws -> PaddedResponse,
    respond: @escaping @Sendable (Request) async throws -> PaddedResponse
  ) {
    router.post(
      RouterPath(path),
      QuietRoute<Strict<Body>>(
        limit: BodyLimit(
          bytesMax: VerificationLimit.googleBodyBytesMax,
          secondsMax: VerificationLimit.bodySecondsMax),
        refusals: .google, randomness: randomness, isStrict: true, gate: gate.check,
        decoy: decoy, respond: respond))
  }
}

/// The check of requests to Google's contract before the body is read: maintenance, address, API key.
struct APIKeyGate: Sendable {
  /// The kinds of keys that are allowed for the route.
  let kinds: Set<APIKeyKind>
  let apiKeys: APIKeys
  let netmasks: Netmasks
  /// Counts wrong API keys by address.
  let failures: FailureBudget
  let isInMaintenance: Bool
  /// Counts the refusals by cause.
  var refusals: RefusalLog?

  /// Checks the address first and then the API key, also for decoys.
  ///
  /// Keys from an address outside the netmasks are rejected without a check, so that they cannot be guessed from
  /// there. Both errors have the same response.
  func check(headers: HTTPFields, context: QuietContext) async throws -> PaddedResponse? {
    if isInMaintenance {
      return try PaddedResponse(
        VerificationFailure(.maintenanceMode, "The server is in maintenance: retry later."),
        retryAfterSeconds: Self.maintenanceSeconds)
    }
    guard netmasks.contain(context) else {
      refusals?.record(.address, at: context)
      return try refusal()
    }
    return try await failures.attempt(from: context) {
      let holder = try await QuietRefusal.mappingServerErrors(context.logger) {
        try await apiKeys.holder(of: headers[.apiKey], kinds: kinds)
      }
      guard holder == nil else { return .succeeded(nil) }
      refusals?.record(.apiKey, at: context)
      return .failed(try refusal())
    }
  }

  private func refusal() throws -> PaddedResponse {
    let names = kinds.map(\.rawValue).sorted().joined(separator: " or ")
    return try PaddedResponse(
      VerificationFailure(
        .unauthorized,
        "\(VerificationRoute.apiKeyHeader) must be a valid key of kind \(names),"
          + " sent from an allowed address."))
  }

  private static let maintenanceSeconds = 600
}

extension QuietRequest {
  /// The API key that `APIKeyGate` accepted.
  var apiKeyID: APIKeyID? { APIKeyText(headers[.apiKey])?.id }

  /// The system of the app.
  var system: AppSystem { AppSystem(userAgent: headers[.userAgent]) }
}

extension ErrorBody {
  /// The error body of Google's contract: `{"error", "errorCode", "error_code"}`.
  static let google = ErrorBody { refusal in
    VerificationFailure(code(of: refusal), refusal.message)
  }

  /// The error code of `refusal`.
  static func code(of refusal: QuietRefusal) -> VerificationErrorCode {
    switch refusal {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed, .notFound: .unparsableRequest
    case .tooManyAttempts, .quotaUsedUp: .quotaExceeded
    case .unavailable, .internalError: .internalServerError
    }
  }
}

extension PaddedResponse {
  /// A response with `failure`, with the status of its error code unless `status` is given.
  init(
    _ failure: VerificationFailure, status: Int? = nil, retryAfterSeconds: Int? = nil
  ) throws {
    try self.init(
      failure, status: HTTPResponse.Status(code: status ?? failure.errorCode.httpStatus),
      retryAfterSeconds: retryAfterSeconds)
  }
}

// The fields of the requests; other fields are rejected.

extension VerifyRequest: NamedFields {
  public static let fieldNames: Set<String> = ["code", "accept", "nonce", "padding"]
}

extension CertificateRequest: NamedFields {
  public static let fieldNames: Set<String> = ["token", "ekeyhmac", "padding"]
}

extension UserReportRequest: NamedFields {
  public static let fieldNames: Set<String> = [
    "symptomDate", "testDate", "tzOffset", "phone", "nonce", "padding",
  ]
}

extension IssueRequest: NamedFields {
  public static let fieldNames: Set<String> = [
    "symptomDate", "testDate", "testType", "tzOffset", "phone", "smsTemplateLabel", "uuid",
    "externalIssuerID", "onlyGenerateSMS", "codeForm", "padding",
  ]
}

extension FreePhoneRequest: NamedFields {
  public static let fieldNames: Set<String> = ["phone", "padding"]
}

extension CodeHandleRequest: NamedFields {
  public static let fieldNames: Set<String> = ["uuid", "padding"]
}

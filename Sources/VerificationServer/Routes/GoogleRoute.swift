import Foundation
import Hummingbird
import QuietHTTP
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

extension ErrorBody {
  /// The error body of Google's contract: `{"error", "errorCode", "error_code"}`.
  static let google = ErrorBody { refusal in
    VerificationFailure(code(of: refusal), refusal.message)
  }

  /// The error code of `refusal`.
  static func code(of refusal: QuietRefusal) -> VerificationErrorCode {
    switch refusal {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed, .notFound: .unparsableRequest
    case .tooManyAttempts: .quotaExceeded
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

extension CodeHandleRequest: NamedFields {
  public static let fieldNames: Set<String> = ["uuid", "padding"]
}

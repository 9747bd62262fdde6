import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// What all routes of Google's contract share: strict JSON of up to 64,000 bytes, an API key, its form
/// of refusal. Documentation/VerificationServer.md 2.1.
struct GoogleRoute<Body: Decodable & NamedFields & Sendable>: Sendable {
  typealias Question = QuietRequest<Strict<Body>>
  typealias DecoyQuestion = QuietRequest<Strict<Body>?>

  let caller: Caller
  let randomness: any Randomness

  func add(
    _ path: String, to router: Router<QuietContext>,
    decoy: @escaping @Sendable (DecoyQuestion) async throws -> QuietAnswer,
    answer: @escaping @Sendable (Question) async throws -> QuietAnswer
  ) {
    router.post(
      RouterPath(path),
      QuietRoute<Strict<Body>>(
        limit: BodyLimit(
          bytesMax: VerificationLimit.googleBodyBytesMax,
          secondsMax: VerificationLimit.bodySecondsMax),
        refusals: .google, randomness: randomness, isStrict: true, gate: caller.gate,
        decoy: decoy, answer: answer))
  }
}

extension RefusalForm {
  /// Refusals as Google's contract puts them: `{"error", "errorCode", "error_code"}`.
  static let google = RefusalForm { refusal in
    VerificationFailure(code(of: refusal), refusal.message)
  }

  /// What a program is told of `refusal`.
  static func code(of refusal: QuietRefusal) -> VerificationErrorCode {
    switch refusal {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed, .notFound: .unparsableRequest
    case .tooManyAttempts: .quotaExceeded
    case .unavailable, .ourFault: .internalServerError
    }
  }
}

extension QuietAnswer {
  /// Refuses with the status that belongs to the failure's code, or with another one.
  init(
    _ failure: VerificationFailure, status: Int? = nil, retryAfterSeconds: Int? = nil
  ) throws {
    try self.init(
      failure, status: HTTPResponse.Status(code: status ?? failure.errorCode.httpStatus),
      retryAfterSeconds: retryAfterSeconds)
  }
}

// The fields that requests of Google's contract have; others are refused.

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
    "externalIssuerID", "onlyGenerateSMS", "padding",
  ]
}

extension CodeHandleRequest: NamedFields {
  public static let fieldNames: Set<String> = ["uuid", "padding"]
}

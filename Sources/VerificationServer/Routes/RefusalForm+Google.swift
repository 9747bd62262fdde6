import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI

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

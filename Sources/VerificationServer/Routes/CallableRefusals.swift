import CallableEnvelope
import Hummingbird
import QuietHTTP

extension RefusalForm {
  /// Refusals as callable functions put them: `{"error":{"message":…,"status":…}}`.
  ///
  /// Documentation/SeedContract.md 1.3.
  static let callable = RefusalForm { refusal in
    CallableFailure(status(of: refusal), message: refusal.message)
  }

  private static func status(of refusal: QuietRefusal) -> CallableStatus {
    switch refusal {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed: .invalidArgument
    case .notFound: .notFound
    case .tooManyAttempts: .resourceExhausted
    case .unavailable: .unavailable
    case .ourFault: .internal
    }
  }
}

extension QuietAnswer {
  /// Refuses with a status of the contract.
  init(_ failure: CallableFailure) throws {
    try self.init(failure, status: HTTPResponse.Status(code: failure.error.status.httpStatus))
  }
}

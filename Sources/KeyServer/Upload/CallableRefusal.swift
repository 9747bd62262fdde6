import CallableEnvelope
import QuietHTTP

extension RefusalForm {
  /// The seed contract's form of every refusal that the HTTP layer makes.
  static let callable = RefusalForm { CallableFailure($0.callableStatus, message: $0.message) }
}

extension QuietRefusal {
  fileprivate var callableStatus: CallableStatus {
    switch self {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed: .invalidArgument
    case .notFound: .notFound
    case .tooManyAttempts: .resourceExhausted
    case .unavailable: .unavailable
    case .ourFault: .internal
    }
  }
}

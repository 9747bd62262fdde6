import CallableEnvelope
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// A route of the ProteGO Safe contract: a callable function with its limits and error body.
struct CallableRoute<Payload: Codable & Sendable>: Sendable {
  typealias Body = CallableRequest<Payload?>
  typealias Request = QuietRequest<Body>
  typealias DecoyRequest = QuietRequest<Body?>

  let randomness: any Randomness
  /// The check before the body is read.
  var gate: QuietRoute<Body>.Gate?

  func add(
    _ path: String, to router: Router<QuietContext>,
    decoy: @escaping @Sendable (DecoyRequest) async throws -> PaddedResponse,
    respond: @escaping @Sendable (Request) async throws -> PaddedResponse
  ) {
    router.post(
      RouterPath(path),
      QuietRoute<Body>(
        limit: BodyLimit(
          bytesMax: VerificationLimit.bodyBytesMax, secondsMax: VerificationLimit.bodySecondsMax),
        refusals: .callable, randomness: randomness, isStrict: true, gate: gate, decoy: decoy,
        respond: respond))
  }
}

extension ErrorBody {
  /// The error body of callable functions: `{"error":{"message":…,"status":…}}`.
  static let callable = ErrorBody { refusal in
    CallableFailure(status(of: refusal), message: refusal.message)
  }

  private static func status(of refusal: QuietRefusal) -> CallableStatus {
    switch refusal {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed: .invalidArgument
    case .notFound: .notFound
    case .tooManyAttempts: .resourceExhausted
    case .unavailable: .unavailable
    case .internalError: .internal
    }
  }
}

extension PaddedResponse {
  /// A response with an error of the ProteGO Safe contract.
  init(_ failure: CallableFailure) throws {
    try self.init(failure, status: HTTPResponse.Status(code: failure.error.status.httpStatus))
  }
}

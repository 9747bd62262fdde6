import CallableEnvelope
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// What all routes of the seed contract share: the callable form, its limits and its form of refusal.
/// Documentation/SeedContract.md 1 and 2.2.
struct CallableRoute<Payload: Codable & Sendable>: Sendable {
  typealias Body = CallableRequest<Payload?>
  typealias Question = QuietRequest<Body>
  typealias DecoyQuestion = QuietRequest<Body?>

  let randomness: any Randomness
  /// What is looked at before the body is read; nil lets everybody in.
  var gate: QuietRoute<Body>.Gate?

  func add(
    _ path: String, to router: Router<QuietContext>,
    decoy: @escaping @Sendable (DecoyQuestion) async throws -> QuietAnswer,
    answer: @escaping @Sendable (Question) async throws -> QuietAnswer
  ) {
    router.post(
      RouterPath(path),
      QuietRoute<Body>(
        limit: BodyLimit(
          bytesMax: VerificationLimit.bodyBytesMax, secondsMax: VerificationLimit.bodySecondsMax),
        refusals: .callable, randomness: randomness, isStrict: true, gate: gate, decoy: decoy,
        answer: answer))
  }
}

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

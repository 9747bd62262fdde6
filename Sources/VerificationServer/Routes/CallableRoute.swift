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

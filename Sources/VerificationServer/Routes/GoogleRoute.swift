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

import Foundation
import Hummingbird
import Logging
import World

/// One route that takes JSON and answers JSON, for real requests and decoys alike.
///
/// A decoy carries the header `X-Chaff`. It is read, limited and decoded like a real request, answered
/// with the same headers, length and time, and differs in the one thing the route decides for it:
/// it has no effect. See Documentation/QuietHTTP.md 3.
public struct QuietRoute<Body: Sendable>: Sendable {
  /// Answers a real request.
  public typealias Answer = @Sendable (QuietRequest<Body>) async throws -> QuietAnswer
  /// Answers a decoy; the body is nil where it does not decode, which is no fault in a decoy.
  public typealias Decoy = @Sendable (QuietRequest<Body?>) async throws -> QuietAnswer

  /// Looks at the headers before the body is read, of decoys as well: nil lets the request in.
  public typealias Gate = @Sendable (HTTPFields, QuietContext) async throws -> QuietAnswer?

  /// Makes of a body's bytes what is asked; nil where they are not of the form.
  public typealias Read = @Sendable (Data) -> Body?

  private let limit: BodyLimit
  private let refusals: RefusalForm
  private let randomness: any Randomness
  private let shape: AnswerShape
  private let gate: Gate?
  private let read: Read
  private let answer: Answer
  private let decoy: Decoy
  private let times: AnswerTimes
  private let deadlines = ReadingDeadlines()

  /// A route within `limit` that reads by `read`, refuses in the form `refusals` and answers in `shape`.
  ///
  /// `answer` and `decoy` may throw a `QuietRefusal`; any other error is answered as `.ourFault` and
  /// logged by its kind only. `decoy` should do what `answer` does up to its first effect, and answer
  /// in the form of success.
  public init(
    limit: BodyLimit, refusals: RefusalForm, shape: AnswerShape, randomness: any Randomness,
    gate: Gate? = nil, read: @escaping Read, decoy: @escaping Decoy, answer: @escaping Answer
  ) {
    self.limit = limit
    self.refusals = refusals
    self.shape = shape
    self.randomness = randomness
    self.gate = gate
    self.read = read
    self.decoy = decoy
    self.answer = answer
    times = AnswerTimes(randomness: randomness)
  }

  func respond(to request: Request, in context: QuietContext) async throws -> Response {
    let answer: QuietAnswer
    do {
      if let refused = try await gate?(request.headers, context) {
        answer = refused
      } else {
        let body = read(try await limit.body(of: request, in: context, deadlines))
        let isDecoy = request.isDecoy
        answer = try await timed(isDecoy: isDecoy) {
          try await answered(request, body: body, isDecoy: isDecoy, in: context)
        }
      }
    } catch let refusal as QuietRefusal {
      answer = try QuietAnswer(refusal, form: refusals)
    } catch {
      context.logger.error("a route failed", metadata: ["kind": "\(type(of: error))"])
      answer = try QuietAnswer(.ourFault, form: refusals)
    }
    return answer.response(padding: randomness, shape: shape)
  }

  private func answered(
    _ request: Request, body: Body?, isDecoy: Bool, in context: QuietContext
  ) async throws -> QuietAnswer {
    if isDecoy {
      return try await decoy(
        QuietRequest(body: body, headers: request.headers, context: context))
    }
    guard let body else { throw QuietRefusal.malformed }
    return try await answer(QuietRequest(body: body, headers: request.headers, context: context))
  }

  /// Remembers the time of a real answer, and lets a decoy take the time of one.
  private func timed(
    isDecoy: Bool, _ work: () async throws -> QuietAnswer
  ) async throws -> QuietAnswer {
    let start = ContinuousClock.now
    let answer = try await work()
    if isDecoy {
      try await times.wait(since: start)
    } else {
      times.remember(ContinuousClock.now - start)
    }
    return answer
  }
}

extension QuietRoute where Body: Decodable {
  /// A route within `limit` that refuses in the form `refusals`. Where it `isStrict` a field that comes
  /// twice is a fault; a `Body` of type `Strict` also refuses fields without a name.
  public init(
    limit: BodyLimit, refusals: RefusalForm, randomness: any Randomness, isStrict: Bool = false,
    gate: Gate? = nil, decoy: @escaping Decoy, answer: @escaping Answer
  ) {
    self.init(
      limit: limit, refusals: refusals, shape: AnswerShape(), randomness: randomness, gate: gate,
      read: { bytes in
        guard !isStrict || StrictJSON.accepts(bytes) else { return nil }
        return try? JSONDecoder().decode(Body.self, from: bytes)
      }, decoy: decoy, answer: answer)
  }
}

extension Request {
  /// Whether the client marks this as a decoy.
  var isDecoy: Bool { headers.contains(.chaff) }
}

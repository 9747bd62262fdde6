import Hummingbird

/// What all answers of one route have in common, whatever they say.
public struct AnswerShape: Sendable {
  /// The least length of an answer, in bytes: where some answers are longer than the smallest
  /// `AnswerBucket`, the others must be as long.
  public var bytesMin: Int
  /// Headers that each of them has.
  public var headers: HTTPFields

  /// Answers of at least `bytesMin` with `headers`.
  public init(bytesMin: Int = 0, headers: HTTPFields = [:]) {
    self.bytesMin = bytesMin
    self.headers = headers
  }
}

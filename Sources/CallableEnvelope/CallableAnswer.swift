/// `{"result": …}`: how a callable function answers. The server adds `padding` beside it.
public struct CallableAnswer<Result: Codable & Sendable>: Codable, Sendable {
  /// The answer.
  public var result: Result

  /// Answers with `result`.
  public init(result: Result) {
    self.result = result
  }
}

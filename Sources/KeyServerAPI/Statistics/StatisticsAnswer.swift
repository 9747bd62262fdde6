/// The answer of `/v1/stats`. The server adds `padding` beside it.
public struct StatisticsAnswer: Codable, Hashable, Sendable {
  /// The days that may be shown, oldest first.
  public var days: [StatisticsDay]?
  /// What went wrong, in one sentence.
  public var error: String?
  /// What went wrong, for a program.
  public var code: PublishCode?

  /// An answer in the words of the wire.
  public init(days: [StatisticsDay]? = nil, error: String? = nil, code: PublishCode? = nil) {
    (self.days, self.error, self.code) = (days, error, code)
  }
}

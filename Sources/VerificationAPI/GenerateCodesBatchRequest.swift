/// Asks for many codes at once; goes inside a `CallableRequest`. The answer is a list of codes.
public struct GenerateCodesBatchRequest: Codable, Sendable, Hashable {
  /// How long the codes are good, in seconds: 1800, or whole hours up to a day.
  public var duration: Int?
  /// How many codes, 1 to 1000.
  public var numberOfCodes: Int?

  /// Asks for `numberOfCodes` codes that are good for `duration` seconds.
  public init(duration: Int?, numberOfCodes: Int?) {
    self.duration = duration
    self.numberOfCodes = numberOfCodes
  }
}

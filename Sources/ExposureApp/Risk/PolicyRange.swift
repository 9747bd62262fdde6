/// Numbers from a minimum to a maximum, both of which belong to it unless it says otherwise.
public struct PolicyRange: Hashable, Sendable {
  /// The least number.
  public var min: Double
  /// The greatest number.
  public var max: Double
  /// Whether the least number itself is outside.
  public var minExclusive: Bool
  /// Whether the greatest number itself is outside.
  public var maxExclusive: Bool

  /// The numbers from `min` to `max`.
  public init(
    min: Double, max: Double, minExclusive: Bool = false, maxExclusive: Bool = false
  ) {
    self.min = min
    self.max = max
    self.minExclusive = minExclusive
    self.maxExclusive = maxExclusive
  }

  /// Whether `number` lies within.
  public func contains(_ number: Double) -> Bool {
    (minExclusive ? number > min : number >= min) && (maxExclusive ? number < max : number <= max)
  }
}

extension PolicyRange: Codable {
  private enum CodingKeys: String, CodingKey {
    case min, max, minExclusive, maxExclusive
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    min = try fields.decode(Double.self, forKey: .min)
    max = try fields.decode(Double.self, forKey: .max)
    minExclusive = try fields.decodeIfPresent(Bool.self, forKey: .minExclusive) ?? false
    maxExclusive = try fields.decodeIfPresent(Bool.self, forKey: .maxExclusive) ?? false
  }
}

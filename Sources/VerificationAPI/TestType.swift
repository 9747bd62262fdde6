/// What a code stands for, by its name on the wire.
public enum TestType: String, Codable, Sendable, CaseIterable {
  /// A positive laboratory test.
  case confirmed
  /// A doctor's diagnosis without a test.
  case likely
  /// A negative test; takes back what was said before.
  case negative
  /// A test that somebody made at home.
  case userReport = "user-report"

  /// What an app that names this type accepts: whoever accepts `likely` accepts `confirmed` too, and
  /// whoever accepts `negative` both; `user-report` is named for itself.
  public var accepted: Set<TestType> {
    switch self {
    case .confirmed: [.confirmed]
    case .likely: [.confirmed, .likely]
    case .negative: [.confirmed, .likely, .negative]
    case .userReport: [.userReport]
    }
  }
}

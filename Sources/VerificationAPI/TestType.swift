// SPDX-License-Identifier: Apache-2.0
/// The kind of test result that a code stands for; the raw value is the name in JSON.
public enum TestType: String, Codable, Sendable, CaseIterable {
  /// A positive laboratory test.
  case confirmed
  /// A doctor's diagnosis without a test.
  case likely
  /// A negative test, which revokes keys published for an earlier result.
  case negative
  /// A test that the user made at home.
  case userReport = "user-report"

  /// The kinds of test that an app accepts if its `accept` list names this one.
  ///
  /// `likely` includes `confirmed`, `negative` includes both, `userReport` includes only itself.
  public var accepted: Set<TestType> {
    switch self {
    case .confirmed: [.confirmed]
    case .likely: [.confirmed, .likely]
    case .negative: [.confirmed, .likely, .negative]
    case .userReport: [.userReport]
    }
  }
}

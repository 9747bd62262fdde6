/// Asks for a new code; goes inside a `CallableRequest`. The answer is the code's six characters.
public struct GenerateCodeRequest: Codable, Sendable, Hashable {
  /// What was found: `confirmed`, which is also what is meant where it is absent.
  public var testType: String?
  /// The day on which symptoms began, as `YYYY-MM-DD` in UTC, where known.
  public var symptomDate: String?

  /// Asks for a code.
  public init(testType: String? = nil, symptomDate: String? = nil) {
    self.testType = testType
    self.symptomDate = symptomDate
  }
}

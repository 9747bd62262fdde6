/// What a code stands for, and the token to go on with.
public struct VerifyAnswer: Codable, Sendable, Hashable {
  /// The kind of test.
  public var testtype: String
  /// The day on which symptoms began, `YYYY-MM-DD`.
  public var symptomDate: String?
  /// The day of the test, `YYYY-MM-DD`.
  public var testDate: String?
  /// The verification token, good for one certificate.
  public var token: String

  /// Answers with `token`.
  public init(testtype: String, symptomDate: String?, testDate: String?, token: String) {
    self.testtype = testtype
    self.symptomDate = symptomDate
    self.testDate = testDate
    self.token = token
  }
}

extension VerifyAnswer: CustomStringConvertible, CustomReflectable {
  public var description: String { "VerifyAnswer" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

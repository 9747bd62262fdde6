/// Asks for a new code, for the health authority's own systems.
public struct IssueRequest: Codable, Sendable, Hashable {
  /// The day on which symptoms began, `YYYY-MM-DD`.
  public var symptomDate: String?
  /// The day of the test, `YYYY-MM-DD`.
  public var testDate: String?
  /// `confirmed`, `likely` or `negative`.
  public var testType: String?
  /// Minutes by which the clock of whoever asks is ahead of UTC.
  public var tzOffset: Double?
  /// Where to send the code by SMS: `+` and digits (E.164).
  public var phone: String?
  /// Which of the server's SMS texts to take.
  public var smsTemplateLabel: String?
  /// The name that the asker wants to find the code by; else the server makes one.
  public var uuid: String?
  /// Whoever is behind the asker, as the asker names them.
  public var externalIssuerID: String?
  /// Whether the SMS is only to be written, and sent by the asker.
  public var onlyGenerateSMS: Bool?
  /// Base64 of random bytes, to be ignored.
  public var padding: String?

  /// Orders a code for `testType`.
  public init(testType: String? = nil) {
    self.testType = testType
  }
}

extension IssueRequest: CustomStringConvertible, CustomReflectable {
  /// It may hold a person's phone number.
  public var description: String { "IssueRequest" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

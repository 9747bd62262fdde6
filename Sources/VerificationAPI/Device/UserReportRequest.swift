/// Asks for a code by SMS for somebody who reports a test of their own.
public struct UserReportRequest: Codable, Sendable, Hashable {
  /// The day on which symptoms began, `YYYY-MM-DD`.
  public var symptomDate: String?
  /// The day of the test, `YYYY-MM-DD`.
  public var testDate: String?
  /// Minutes by which the phone's clock is ahead of UTC.
  public var tzOffset: Double?
  /// Where to send the SMS: `+` and digits (E.164).
  public var phone: String?
  /// Base64 of 256 random bytes, to be sent again with the code: nobody else can use it.
  public var nonce: String?
  /// Base64 of random bytes, to be ignored.
  public var padding: String?
}

extension UserReportRequest: CustomStringConvertible, CustomReflectable {
  /// It holds a person's phone number.
  public var description: String { "UserReportRequest" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

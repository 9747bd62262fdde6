/// A new code, and until when it is good.
public struct IssueAnswer: Codable, Sendable, Hashable {
  /// The name to ask for the code's fate by.
  public var uuid: String
  /// The short code.
  public var code: String
  /// When the short code ends, as RFC 1123 writes it, in UTC.
  public var expiresAt: String
  /// The same in Unix seconds.
  public var expiresAtTimestamp: Int64
  /// When the long code in the SMS ends; where there is no SMS, when the short one does.
  public var longExpiresAt: String?
  /// The same in Unix seconds.
  public var longExpiresAtTimestamp: Int64?
  /// The SMS, where it was only to be written.
  public var generatedSMS: String?
  /// Whom to send it to.
  public var phone: String?

  /// Answers with the code `code`, to be found by `uuid`.
  public init(uuid: String, code: String, expiresAt: String, expiresAtTimestamp: Int64) {
    self.uuid = uuid
    self.code = code
    self.expiresAt = expiresAt
    self.expiresAtTimestamp = expiresAtTimestamp
  }
}

extension IssueAnswer: CustomStringConvertible, CustomReflectable {
  /// Whoever reads a code can use it.
  public var description: String { "IssueAnswer" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

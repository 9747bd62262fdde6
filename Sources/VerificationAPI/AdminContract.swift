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

/// What became of each code of a batch, in the order they were asked for.
public struct BatchIssueAnswer: Codable, Sendable {
  /// One code, or why there is none.
  public enum Item: Codable, Sendable {
    /// The code.
    case issued(IssueAnswer)
    /// Why there is none.
    case refused(VerificationFailure)

    /// Reads whichever it is.
    public init(from decoder: any Decoder) throws {
      if let failure = try? VerificationFailure(from: decoder) {
        self = .refused(failure)
      } else {
        self = .issued(try IssueAnswer(from: decoder))
      }
    }

    public func encode(to encoder: any Encoder) throws {
      switch self {
      case .issued(let answer): try answer.encode(to: encoder)
      case .refused(let failure): try failure.encode(to: encoder)
      }
    }
  }

  /// What became of each.
  public var codes: [Item]
  /// The first refusal among them.
  public var error: String?
  /// The same for a program.
  public var errorCode: VerificationErrorCode?

  /// Answers with `codes`.
  public init(codes: [Item]) {
    self.codes = codes
    for case .refused(let failure) in codes {
      (error, errorCode) = (failure.error, failure.errorCode)
      return
    }
  }
}

/// Names a code that was issued: to ask for its status, or to end it.
public struct CodeHandleRequest: Codable, Sendable, Hashable {
  /// The name that the answer of the issue gave.
  public var uuid: String?
  /// Base64 of random bytes, to be ignored.
  public var padding: String?

  /// Names the code of `uuid`.
  public init(uuid: String?) {
    self.uuid = uuid
  }
}

/// What became of a code.
public struct CodeStatusAnswer: Codable, Sendable, Hashable {
  /// Whether somebody has used it; absent in the answer to ending a code.
  public var claimed: Bool?
  /// When the short code ends, in Unix seconds.
  public var expiresAtTimestamp: Int64
  /// When the long code ends, in Unix seconds, where there is one.
  public var longExpiresAtTimestamp: Int64?

  /// Answers with the ends of the code's times.
  public init(claimed: Bool?, expiresAtTimestamp: Int64, longExpiresAtTimestamp: Int64?) {
    self.claimed = claimed
    self.expiresAtTimestamp = expiresAtTimestamp
    self.longExpiresAtTimestamp = longExpiresAtTimestamp
  }
}

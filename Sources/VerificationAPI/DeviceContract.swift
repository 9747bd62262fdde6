import UploadToken

/// Asks for the verification token that a code is good for.
public struct VerifyRequest: Codable, Sendable, Hashable {
  /// The short or the long code, as it was typed or came in the link.
  public var code: String?
  /// The kinds of test that the app can deal with; empty or absent: all.
  public var accept: [String]?
  /// Base64 of the 256 bytes that were sent with a user report; else anything that the app repeats
  /// when it asks again after a lost answer.
  public var nonce: String?
  /// Base64 of random bytes, to be ignored.
  public var padding: String?

  /// Asks for the token of `code`.
  public init(code: String?, accept: [String]? = nil, nonce: String? = nil, padding: String? = nil)
  {
    self.code = code
    self.accept = accept
    self.nonce = nonce
    self.padding = padding
  }
}

extension VerifyRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "VerifyRequest" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

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

/// Asks for the certificate of a verification token, bound to the keys that will be published.
public struct CertificateRequest: Codable, Sendable, Hashable {
  /// The verification token.
  public var token: String?
  /// Base64 of HMAC-SHA256 over the keys, 32 bytes.
  public var ekeyhmac: String?
  /// Base64 of random bytes, to be ignored.
  public var padding: String?

  /// Asks for the certificate of `token` for the keys of `ekeyhmac`.
  public init(token: String?, ekeyhmac: String?, padding: String? = nil) {
    self.token = token
    self.ekeyhmac = ekeyhmac
    self.padding = padding
  }
}

extension CertificateRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "CertificateRequest" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The certificate with which keys can be published.
public struct CertificateAnswer: Codable, Sendable, Hashable {
  /// The certificate's text.
  public var certificate: String

  /// Answers with `certificate`.
  public init(certificate: String) {
    self.certificate = certificate
  }

  /// The certificate, not yet believed.
  public var unverified: UnverifiedCertificate { UnverifiedCertificate(certificate) }
}

extension CertificateAnswer: CustomStringConvertible, CustomReflectable {
  public var description: String { "CertificateAnswer" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

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

/// Until when the code is good that was sent, if it was: whether it was is not said.
public struct UserReportAnswer: Codable, Sendable, Hashable {
  /// As RFC 1123 writes it, in UTC.
  public var expiresAt: String
  /// In Unix seconds.
  public var expiresAtTimestamp: Int64

  /// Answers with the end of the code's time in both forms.
  public init(expiresAt: String, expiresAtTimestamp: Int64) {
    self.expiresAt = expiresAt
    self.expiresAtTimestamp = expiresAtTimestamp
  }
}

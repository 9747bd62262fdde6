// SPDX-License-Identifier: Apache-2.0
import Secrets
import UploadToken

/// The body of `VerificationRoute.verify`: exchanges a code for a verification token.
public struct VerifyRequest: Codable, Sendable, Hashable, Redacted {
  /// The short code, the long code of the link, or a PIN.
  public var code: String?
  /// The kinds of test that the app supports; empty or absent: all.
  public var accept: [String]?
  /// Base64 of 256 bytes: the nonce of the user report. For other codes, any value that the app
  /// repeats if it retries after a lost response.
  public var nonce: String?
  /// Base64 of random bytes, which the server ignores.
  public var padding: String?

  /// Creates a request for the token of `code`.
  public init(code: String?, accept: [String]? = nil, nonce: String? = nil, padding: String? = nil)
  {
    self.code = code
    self.accept = accept
    self.nonce = nonce
    self.padding = padding
  }
}

/// The response to `VerifyRequest`: the test result and a verification token.
public struct VerifyResponse: Codable, Sendable, Hashable, Redacted {
  /// The kind of test.
  public var testtype: String
  /// The day on which symptoms began, `YYYY-MM-DD`.
  public var symptomDate: String?
  /// The day of the test, `YYYY-MM-DD`.
  public var testDate: String?
  /// The verification token, valid for one certificate.
  public var token: String

  /// Creates a response with `token`.
  public init(testtype: String, symptomDate: String?, testDate: String?, token: String) {
    self.testtype = testtype
    self.symptomDate = symptomDate
    self.testDate = testDate
    self.token = token
  }
}

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

/// The body of `VerificationRoute.certificate`: exchanges a verification token for a certificate over the keys.
public struct CertificateRequest: Codable, Sendable, Hashable, Redacted {
  /// The verification token.
  public var token: String?
  /// Base64 of the HMAC-SHA256 over the keys to be published, 32 bytes.
  public var ekeyhmac: String?
  /// Base64 of random bytes, which the server ignores.
  public var padding: String?

  /// Creates a request for the certificate of `token` over the keys of `ekeyhmac`.
  public init(token: String?, ekeyhmac: String?, padding: String? = nil) {
    self.token = token
    self.ekeyhmac = ekeyhmac
    self.padding = padding
  }
}

/// The response to `CertificateRequest`.
public struct CertificateResponse: Codable, Sendable, Hashable, Redacted {
  /// The certificate, a compact JSON Web Token.
  public var certificate: String

  /// Creates a response with `certificate`.
  public init(certificate: String) {
    self.certificate = certificate
  }

  /// The certificate before its signature is verified.
  public var unverified: UnverifiedCertificate { UnverifiedCertificate(certificate) }
}

/// The body of `VerificationRoute.userReport`: requests a code by SMS for a test that the user made.
public struct UserReportRequest: Codable, Sendable, Hashable, Redacted {
  /// The day on which symptoms began, `YYYY-MM-DD`.
  public var symptomDate: String?
  /// The day of the test, `YYYY-MM-DD`.
  public var testDate: String?
  /// The phone's time zone offset, in minutes ahead of UTC.
  public var tzOffset: Double?
  /// The phone number for the SMS: `+` and digits (E.164).
  public var phone: String?
  /// Base64 of 256 random bytes. The app repeats them in `VerifyRequest`, so that only it can use the code.
  public var nonce: String?
  /// Base64 of random bytes, which the server ignores.
  public var padding: String?
}

/// The response to `UserReportRequest`. It is the same if no SMS was sent, so that it does not reveal who reported.
public struct UserReportResponse: Codable, Sendable, Hashable {
  /// The expiry of the code, RFC 1123, in UTC.
  public var expiresAt: String
  /// The expiry of the code, in Unix seconds.
  public var expiresAtTimestamp: Int64

  /// Creates a response.
  public init(expiresAt: String, expiresAtTimestamp: Int64) {
    self.expiresAt = expiresAt
    self.expiresAtTimestamp = expiresAtTimestamp
  }
}

/// The code of Google's contract that the user types: decimal digits, eight by default.
public struct ShortCode: Hashable, Sendable, Redacted {
  /// The allowed numbers of digits. A text of twelve is a long code.
  public static let digitCounts = 6...11

  /// The digits.
  public let characters: String

  /// Parses `text`; ignores spaces and hyphens. Returns nil if the text is not a short code.
  public init?(_ text: String) {
    guard text.utf8.count <= VerificationCode.typedCharactersMax else { return nil }
    let typed = text.utf8.filter { !Self.ignored.contains($0) }
    guard Self.digitCounts.contains(typed.count), typed.allSatisfy(Self.digits.contains) else {
      return nil
    }
    characters = String(decoding: typed, as: UTF8.self)
  }

  private static let ignored: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0x2D]
  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}

/// The code of Google's contract inside the link of an SMS.
public struct LongCode: Hashable, Sendable, Redacted {
  /// The allowed lengths.
  public static let characterCounts = 12...16
  /// The characters of a long code.
  public static let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")

  /// The characters, in lower case.
  public let characters: String

  /// Parses `text`; ignores spaces. Returns nil if the text is not a long code.
  public init?(_ text: String) {
    guard text.utf8.count <= VerificationCode.typedCharactersMax else { return nil }
    let typed = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    guard Self.characterCounts.contains(typed.count), typed.allSatisfy(Self.isOurs) else {
      return nil
    }
    characters = String(decoding: typed, as: UTF8.self)
  }

  private static func isOurs(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
}

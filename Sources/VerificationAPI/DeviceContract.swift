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

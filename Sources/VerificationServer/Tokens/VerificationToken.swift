import Foundation
import UploadToken
import VerificationAPI

/// What a verification token says: that a code of this finding was verified here. It is good for one
/// certificate and for nothing else; its audience is the issuer itself.
///
/// Documentation/VerificationServer.md 2.4.
struct VerificationToken: Hashable, Sendable {
  /// Claim `jti`.
  var tokenID: String
  var finding: Finding
  var issuedAt: Date
  /// The first second at which it is no longer good.
  var expiresAt: Date

  /// The claims as they stand on the wire.
  struct Claims: Codable {
    var iss: String
    var aud: String
    var iat: Int64
    var exp: Int64
    var jti: String
    var sub: String
  }

  init(tokenID: String, finding: Finding, issuedAt: Date, expiresAt: Date) {
    self.tokenID = tokenID
    self.finding = finding
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
  }

  func claims(issuer: String) -> Claims {
    let subject = [finding.testType.rawValue, finding.symptomDay?.text, finding.testDay?.text]
    return Claims(
      iss: issuer, aud: issuer, iat: issuedAt.unixSecond, exp: expiresAt.unixSecond, jti: tokenID,
      sub: subject.map { $0 ?? "" }.joined(separator: "."))
  }

  /// What the claims say; nil where they are not those of a token that `issuer` made for itself.
  init?(_ claims: Claims, issuer: String) {
    guard claims.iss == issuer, claims.aud == issuer, !claims.jti.isEmpty else { return nil }
    let parts = claims.sub.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let testType = TestType(rawValue: parts[0]) else { return nil }
    tokenID = claims.jti
    finding = Finding(
      testType: testType, symptomDay: CalendarDay(parts[1]), testDay: CalendarDay(parts[2]))
    issuedAt = Date(unixSecond: claims.iat)
    expiresAt = Date(unixSecond: claims.exp)
  }
}

extension VerificationToken: CustomStringConvertible, CustomReflectable {
  var description: String { "VerificationToken(\(finding.reportType))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

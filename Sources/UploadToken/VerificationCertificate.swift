import Foundation

/// What a verification certificate says: somebody was found to be ill, and exactly these keys, those of
/// `keyHMAC`, may be published for it.
///
/// Documentation/VerificationServer.md 4. It carries no code and nothing about a person.
public struct VerificationCertificate: Sendable, Hashable {
  /// Claim `jti`: names this certificate among all. Ours have one; those of Google's verification
  /// server have none.
  public var certificateID: String?
  /// Claims `iat` and `nbf`: the first second at which it is good.
  public var issuedAt: Date
  /// Claim `exp`: the first second at which it is no longer good.
  public var expiresAt: Date
  /// Claim `reportType`: `confirmed`, `likely`, `negative` or `user-report`.
  public var reportType: String
  /// Claim `symptomOnsetInterval`: the ten-minute interval in which symptoms began, where known.
  public var symptomOnsetInterval: UInt32?
  /// Claim `tekmac`: HMAC-SHA256 over the keys to be published, 32 bytes.
  public var keyHMAC: Data

  /// Certifies a finding for the keys of `keyHMAC`. Moments are cut to the whole second.
  public init(
    certificateID: String?, issuedAt: Date, expiresAt: Date, reportType: String,
    symptomOnsetInterval: UInt32?, keyHMAC: Data
  ) {
    self.certificateID = certificateID
    self.issuedAt = issuedAt.wholeSecond
    self.expiresAt = expiresAt.wholeSecond
    self.reportType = reportType
    self.symptomOnsetInterval = symptomOnsetInterval
    self.keyHMAC = keyHMAC
  }
}

extension VerificationCertificate: CustomStringConvertible, CustomReflectable {
  /// The HMAC would let a reader of the log check guesses at the keys.
  public var description: String { "VerificationCertificate(\(reportType))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

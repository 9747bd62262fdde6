import Foundation

/// What an upload token says: whoever brings it may upload once, the keys it is bound to.
///
/// Documentation/SeedContract.md 3.2. It carries no code and nothing about a person.
public struct UploadGrant: Sendable, Hashable {
  /// Claim `jti`: names this token among all tokens, so that it can be used up once.
  public var tokenID: String
  /// Claim `iat`: when it was issued, in whole seconds.
  public var issuedAt: Date
  /// Claim `exp`: the first second at which it is no longer good.
  public var expiresAt: Date
  /// Claim `reportType`: what the health authority found, `confirmed` for a positive test.
  public var reportType: String
  /// Claim `symptomOnsetInterval`: the ten-minute interval in which symptoms began, where known.
  public var symptomOnsetInterval: UInt32?
  /// Claim `tekmac`: HMAC-SHA256 over the keys to be uploaded, 32 bytes; nil binds the token to none.
  public var keyHMAC: Data?

  /// Grants one upload. Moments are cut to the whole second, as the token carries no fractions.
  public init(
    tokenID: String, issuedAt: Date, expiresAt: Date, reportType: String = Self.confirmed,
    symptomOnsetInterval: UInt32? = nil, keyHMAC: Data? = nil
  ) {
    self.tokenID = tokenID
    self.issuedAt = issuedAt.wholeSecond
    self.expiresAt = expiresAt.wholeSecond
    self.reportType = reportType
    self.symptomOnsetInterval = symptomOnsetInterval
    self.keyHMAC = keyHMAC
  }

  /// The report type of a positive laboratory test.
  public static let confirmed = "confirmed"
}

extension UploadGrant: CustomStringConvertible, CustomReflectable {
  /// The HMAC would let a reader of the log check guesses at the keys, and the token's name would
  /// join this line to the upload, so neither is shown.
  public var description: String { "UploadGrant(\(reportType))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Date {
  var wholeSecond: Date {
    Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down))
  }
}

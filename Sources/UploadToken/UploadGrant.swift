// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// The content of an upload token: the permission to upload once, optionally bound to certain keys.
///
/// It contains no code and nothing about the user. Its claims are in
/// Documentation/ProteGOSafeContract.md, "Tokens".
public struct UploadGrant: Sendable, Hashable {
  /// Claim `jti`: a unique ID. The key server accepts each ID once.
  public var tokenID: String
  /// Claim `iat`: the time of issue, in whole seconds.
  public var issuedAt: Date
  /// Claim `exp`: the first second at which the token is no longer valid.
  public var expiresAt: Date
  /// Claim `reportType`: the test result, `confirmed` for a positive laboratory test.
  public var reportType: String
  /// Claim `symptomOnsetInterval`: the ten-minute interval in which symptoms began, if known.
  public var symptomOnsetInterval: UInt32?
  /// Claim `tekmac`: HMAC-SHA256 over the keys to be uploaded, 32 bytes. If nil, the token is not bound to keys.
  public var keyHMAC: Data?
  /// True for a synthetic phone that probes the servers. Such a token has an audience of its own (claim `aud`), which
  /// a key server accepts for the keys of synthetic phones only.
  public var isCanary: Bool

  /// Creates a grant. Dates are rounded down to whole seconds, because claims have no fractions.
  public init(
    tokenID: String, issuedAt: Date, expiresAt: Date, reportType: String = Self.confirmed,
    symptomOnsetInterval: UInt32? = nil, keyHMAC: Data? = nil, isCanary: Bool = false
  ) {
    self.tokenID = tokenID
    self.issuedAt = issuedAt.wholeSecond
    self.expiresAt = expiresAt.wholeSecond
    self.reportType = reportType
    self.symptomOnsetInterval = symptomOnsetInterval
    self.keyHMAC = keyHMAC
    self.isCanary = isCanary
  }

  /// The report type of a positive laboratory test.
  public static let confirmed = "confirmed"
}

extension UploadGrant: Redacted {
  public var description: String { "UploadGrant(\(reportType))" }
}

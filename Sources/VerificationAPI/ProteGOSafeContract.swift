// SPDX-License-Identifier: Apache-2.0
import Secrets
import UploadToken

/// The payload of `VerificationRoute.accessToken`: exchanges a PIN for an upload token.
public struct AccessTokenRequest: Codable, Sendable, Hashable, Redacted {
  /// The PIN as the user typed it.
  public var code: String?
  /// Base64 of the HMAC-SHA256 over the keys to be uploaded, 32 bytes; the token is bound to it.
  public var ekeyhmac: String?
  /// True to get a permit for the keys of the following days as well.
  public var wantsFollowUp: Bool?
  /// A permit, in place of `code`; the token is bound to the keys of `ekeyhmac`.
  public var followUp: String?

  /// Creates a request for the token of `code`, bound to the keys of `ekeyhmac`.
  public init(
    code: String?, ekeyhmac: String? = nil, wantsFollowUp: Bool? = nil, followUp: String? = nil
  ) {
    self.code = code
    self.ekeyhmac = ekeyhmac
    self.wantsFollowUp = wantsFollowUp
    self.followUp = followUp
  }
}

/// The result of `AccessTokenRequest`.
public struct AccessTokenResponse: Codable, Sendable, Hashable, Redacted {
  /// The upload token, a compact JSON Web Token.
  public var accessToken: String
  /// The permit for the keys of the following days, if it was requested with a code.
  public var followUp: String?

  /// Creates a result with `accessToken`.
  public init(accessToken: String) {
    self.accessToken = accessToken
  }

  /// The token before its signature is verified.
  public var token: UnverifiedUploadToken { UnverifiedUploadToken(accessToken) }
}

/// The payload of `VerificationRoute.generateCode`; the result is a PIN.
public struct GenerateCodeRequest: Codable, Sendable, Hashable {
  /// The kind of test: `confirmed` or absent, which means the same.
  public var testType: String?
  /// The day on which symptoms began, `YYYY-MM-DD` in UTC, if known.
  public var symptomDate: String?

  /// Creates a request for a PIN.
  public init(testType: String? = nil, symptomDate: String? = nil) {
    self.testType = testType
    self.symptomDate = symptomDate
  }
}

/// The payload of `VerificationRoute.generateCodesBatch`; the result is a list of PINs.
public struct GenerateCodesBatchRequest: Codable, Sendable, Hashable {
  /// The lifetime of the codes, in seconds: 1800, or whole hours up to a day.
  public var duration: Int?
  /// The number of codes, 1 to 1000.
  public var numberOfCodes: Int?

  /// Creates a request for `numberOfCodes` codes that expire after `duration` seconds.
  public init(duration: Int?, numberOfCodes: Int?) {
    self.duration = duration
    self.numberOfCodes = numberOfCodes
  }
}

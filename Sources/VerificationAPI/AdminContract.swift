// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The body of `VerificationRoute.issue`: a request for one code, from the health authority's systems.
public struct IssueRequest: Codable, Sendable, Hashable, Redacted {
  /// The day on which symptoms began, `YYYY-MM-DD`.
  public var symptomDate: String?
  /// The day of the test, `YYYY-MM-DD`.
  public var testDate: String?
  /// `confirmed`, `likely` or `negative`.
  public var testType: String?
  /// The client's time zone offset, in minutes ahead of UTC.
  public var tzOffset: Double?
  /// The phone number for the SMS with the code: `+` and digits (E.164).
  public var phone: String?
  /// The label of the server's SMS template to use.
  public var smsTemplateLabel: String?
  /// The code's UUID; without one the server makes one.
  public var uuid: String?
  /// The client's own name for the person or office that issues the code.
  public var externalIssuerID: String?
  /// True if the server returns the text of the SMS and does not send it.
  public var onlyGenerateSMS: Bool?
  /// The form of the code: `short` (decimal digits) or absent, or `pin` for a PIN of the ProteGO Safe contract. An
  /// addition to Google's contract.
  public var codeForm: String?
  /// Base64 of random bytes, which the server ignores.
  public var padding: String?

  /// Creates a request for a code of `testType`.
  public init(testType: String? = nil) {
    self.testType = testType
  }
}

/// The response to `IssueRequest`: a new code and its expiry.
public struct IssueResponse: Codable, Sendable, Hashable, Redacted {
  /// The UUID that `CodeHandleRequest` takes.
  public var uuid: String
  /// The short code or the PIN.
  public var code: String
  /// The expiry of the short code, RFC 1123, in UTC.
  public var expiresAt: String
  /// The expiry of the short code, in Unix seconds.
  public var expiresAtTimestamp: Int64
  /// The expiry of the long code in the SMS; without an SMS, that of the short code.
  public var longExpiresAt: String?
  /// The same in Unix seconds.
  public var longExpiresAtTimestamp: Int64?
  /// The text of the SMS if the request set `onlyGenerateSMS`.
  public var generatedSMS: String?
  /// The phone number for `generatedSMS`.
  public var phone: String?

  /// Creates a response with `code`.
  public init(uuid: String, code: String, expiresAt: String, expiresAtTimestamp: Int64) {
    self.uuid = uuid
    self.code = code
    self.expiresAt = expiresAt
    self.expiresAtTimestamp = expiresAtTimestamp
  }
}

/// The response to a batch: one item for each requested code, in the same order.
public struct BatchIssueResponse: Codable, Sendable {
  /// An issued code or an error.
  public enum Item: Codable, Sendable {
    /// A new code.
    case issued(IssueResponse)
    /// The error; no code was issued.
    case refused(VerificationFailure)

    /// Decodes an item that has an error code as `refused`.
    public init(from decoder: any Decoder) throws {
      // An item without an error code is a code that was issued.
      if let failure = try? VerificationFailure(from: decoder) {
        self = .refused(failure)
      } else {
        self = .issued(try IssueResponse(from: decoder))
      }
    }

    public func encode(to encoder: any Encoder) throws {
      switch self {
      case .issued(let answer): try answer.encode(to: encoder)
      case .refused(let failure): try failure.encode(to: encoder)
      }
    }
  }

  /// The items, in the order of the request.
  public var codes: [Item]
  /// The message of the first error in `codes`.
  public var error: String?
  /// The code of the first error in `codes`.
  public var errorCode: VerificationErrorCode?

  /// Creates a response with `codes` and copies the first error.
  public init(codes: [Item]) {
    self.codes = codes
    for case .refused(let failure) in codes {
      (error, errorCode) = (failure.error, failure.errorCode)
      return
    }
  }
}

/// A request for the status of an issued code, or for its expiry.
public struct CodeHandleRequest: Codable, Sendable, Hashable {
  /// The UUID from `IssueResponse`.
  public var uuid: String?
  /// Base64 of random bytes, which the server ignores.
  public var padding: String?

  /// Creates a request for the code with `uuid`.
  public init(uuid: String?) {
    self.uuid = uuid
  }
}

/// The body of `VerificationRoute.freePhone`.
///
/// The response has no fields: it does not say whether the phone had reported.
public struct FreePhoneRequest: Codable, Sendable, Hashable, Redacted {
  /// The phone number: `+` and digits (E.164).
  public var phone: String?
  /// Base64 of random bytes, which the server ignores.
  public var padding: String?

  /// Creates a request for the phone with this number.
  public init(phone: String?) {
    self.phone = phone
  }
}

/// The response to `CodeHandleRequest`.
public struct CodeStatusResponse: Codable, Sendable, Hashable {
  /// True if the code was used; absent in the response to `VerificationRoute.expireCode`.
  public var claimed: Bool?
  /// The expiry of the short code, in Unix seconds.
  public var expiresAtTimestamp: Int64
  /// The expiry of the long code, in Unix seconds.
  public var longExpiresAtTimestamp: Int64?

  /// Creates a response.
  public init(claimed: Bool?, expiresAtTimestamp: Int64, longExpiresAtTimestamp: Int64?) {
    self.claimed = claimed
    self.expiresAtTimestamp = expiresAtTimestamp
    self.longExpiresAtTimestamp = longExpiresAtTimestamp
  }
}

/// A day in UTC and its numbers.
public struct DatedCounts<Counts: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
  /// Midnight, such as `2027-01-15T00:00:00Z`.
  public let date: String
  public let data: Counts

  public init(date: String, data: Counts) {
    self.date = date
    self.data = data
  }
}

/// The response to `VerificationRoute.statistics`: the numbers of codes by day in UTC, newest day first.
///
/// The fields are those of Google's verification server. A day without codes is absent.
public struct CodeStatisticsResponse: Codable, Sendable, Hashable {
  /// A day and its numbers.
  public typealias Day = DatedCounts<Counts>

  /// The numbers of one day.
  public struct Counts: Codable, Sendable, Hashable {
    /// The codes that were issued.
    public let codesIssued: Int
    /// The codes that were exchanged for a token.
    public let codesClaimed: Int
    /// The codes that apps entered and that were unknown, used or expired; rounded down, and nil for a day that is not
    /// over.
    public let codesInvalid: Int?
    /// The same by the system of the app; nil for a day that is not over, for one on which a server of an earlier
    /// version has counted, and from such servers.
    public let codesInvalidBySystem: InvalidCodes?
    /// The verification tokens that were exchanged for a certificate.
    public let tokensClaimed: Int
    /// The tokens that were refused; rounded down, and nil for a day that is not over.
    public let tokensInvalid: Int?
    /// The used codes by the time since they were issued: up to 1, 5, 15 and 30 minutes, 1, 2, 3, 6, 12 and 24 hours,
    /// and longer.
    public let claimAges: [Int]
    /// The mean of these times, in seconds; 0 if no code was used.
    public let claimMeanSeconds: Int64
    /// The codes of user reports that were sent; this and the following three are parts of the numbers above, rounded
    /// down, and nil for a day that is not over.
    public let userReportsIssued: Int?
    /// The codes of user reports that were exchanged for a token.
    public let userReportsClaimed: Int?
    /// The codes of user reports that were entered on another device.
    public let userReportsInvalidNonce: Int?
    /// The tokens of user reports that were exchanged for a certificate.
    public let userReportTokensClaimed: Int?

    public init(
      codesIssued: Int, codesClaimed: Int, codesInvalid: Int? = nil,
      codesInvalidBySystem: InvalidCodes? = nil, tokensClaimed: Int, tokensInvalid: Int? = nil,
      claimAges: [Int], claimMeanSeconds: Int64, userReportsIssued: Int? = nil,
      userReportsClaimed: Int? = nil, userReportsInvalidNonce: Int? = nil,
      userReportTokensClaimed: Int? = nil
    ) {
      self.codesIssued = codesIssued
      self.codesClaimed = codesClaimed
      self.codesInvalid = codesInvalid
      self.codesInvalidBySystem = codesInvalidBySystem
      self.tokensClaimed = tokensClaimed
      self.tokensInvalid = tokensInvalid
      self.claimAges = claimAges
      self.claimMeanSeconds = claimMeanSeconds
      self.userReportsIssued = userReportsIssued
      self.userReportsClaimed = userReportsClaimed
      self.userReportsInvalidNonce = userReportsInvalidNonce
      self.userReportTokensClaimed = userReportTokensClaimed
    }

    private enum CodingKeys: String, CodingKey {
      case codesIssued = "codes_issued"
      case codesClaimed = "codes_claimed"
      case codesInvalid = "codes_invalid"
      case codesInvalidBySystem = "codes_invalid_by_os"
      case tokensClaimed = "tokens_claimed"
      case tokensInvalid = "tokens_invalid"
      case claimAges = "code_claim_age_distribution"
      case claimMeanSeconds = "code_claim_mean_age_seconds"
      case userReportsIssued = "user_reports_issued"
      case userReportsClaimed = "user_reports_claimed"
      case userReportsInvalidNonce = "user_reports_invalid_nonce"
      case userReportTokensClaimed = "user_report_tokens_claimed"
    }
  }

  /// Numbers of invalid codes by the system that the header `User-Agent` of apps names. Each is rounded down by itself.
  public struct InvalidCodes: Codable, Sendable, Hashable {
    /// The codes of apps whose header names neither system.
    public let unknown: Int
    /// The codes of apps on iOS.
    public let ios: Int
    /// The codes of apps on Android.
    public let android: Int

    public init(unknown: Int, ios: Int, android: Int) {
      self.unknown = unknown
      self.ios = ios
      self.android = android
    }

    private enum CodingKeys: String, CodingKey {
      case unknown = "unknown_os"
      case ios, android
    }
  }

  /// The number of the realm, which is always 1; servers of earlier versions do not send it.
  public let realm: Int?
  public let statistics: [Day]

  public init(statistics: [Day]) {
    realm = 1
    self.statistics = statistics
  }

  private enum CodingKeys: String, CodingKey {
    case realm = "realm_id"
    case statistics
  }
}

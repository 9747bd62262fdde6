// SPDX-License-Identifier: Apache-2.0
/// The numbers of codes by day in UTC and by issuer, newest day first: the responses to
/// `VerificationRoute.userStatistics`, `.externalIssuerStatistics` and `.apiKeysStatistics`.
///
/// The fields are those of Google's verification server. Numbers are rounded down, and what is rounded to zero is
/// absent.
public struct IssuerStatisticsResponse: Codable, Sendable, Hashable {
  /// A day and its issuers.
  public struct Day: Codable, Sendable, Hashable {
    /// Midnight in UTC, such as `2027-01-15T00:00:00Z`.
    public let date: String
    public let issuers: [Issuer]

    public init(date: String, issuers: [Issuer]) {
      self.date = date
      self.issuers = issuers
    }

    private enum CodingKeys: String, CodingKey {
      case date
      case issuers = "issuer_data"
    }
  }

  /// An issuer with its number of codes. Each of the three responses has its own fields.
  public struct Issuer: Codable, Sendable, Hashable {
    /// The `externalIssuerID` of the requests.
    public var externalIssuer: String?
    /// The name of an official.
    public var name: String?
    /// The ID, the name and the kind of an API key.
    public var apiKeyID: String?
    public var apiKeyName: String?
    public var apiKeyKind: String?
    /// The codes that were issued.
    public let codesIssued: Int
    /// The attempts of apps with an API key, as in `APIKeyCounts`; nil for other issuers.
    public var codesClaimed: Int?
    public var codesInvalid: Int?
    public var tokensClaimed: Int?
    public var tokensInvalid: Int?

    /// Creates an issuer without a name.
    public init(codesIssued: Int) {
      self.codesIssued = codesIssued
    }

    private enum CodingKeys: String, CodingKey {
      case externalIssuer = "issuer_id"
      case name
      case apiKeyID = "authorized_app_id"
      case apiKeyName = "authorized_app_name"
      case apiKeyKind = "authorized_app_type"
      case codesIssued = "codes_issued"
      case codesClaimed = "codes_claimed"
      case codesInvalid = "codes_invalid"
      case tokensClaimed = "tokens_claimed"
      case tokensInvalid = "tokens_invalid"
    }
  }

  /// The number of the realm, which is always 1.
  public let realm: Int
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

/// The numbers of one API key on one day. They are rounded down.
public struct APIKeyCounts: Codable, Sendable, Hashable {
  /// The codes that were issued with the key.
  public var codesIssued = 0
  /// The codes that apps with the key exchanged for a token.
  public var codesClaimed = 0
  /// The codes that apps with the key entered and that were unknown, used or expired.
  public var codesInvalid = 0
  /// The tokens that apps with the key exchanged for a certificate.
  public var tokensClaimed = 0
  /// The tokens of apps with the key that were refused.
  public var tokensInvalid = 0

  /// Creates counts of zero.
  public init() {}

  private enum CodingKeys: String, CodingKey {
    case codesIssued = "codes_issued"
    case codesClaimed = "codes_claimed"
    case codesInvalid = "codes_invalid"
    case tokensClaimed = "tokens_claimed"
    case tokensInvalid = "tokens_invalid"
  }
}

/// The response to `VerificationRoute.apiKeyStatistics`: the numbers of one API key by day in UTC, newest day first. A
/// day whose numbers are all rounded to zero is absent.
public struct APIKeyStatisticsResponse: Codable, Sendable, Hashable {
  /// A day and its numbers.
  public typealias Day = DatedCounts<APIKeyCounts>

  /// The ID, the name and the kind of the key.
  public let id: String
  public let name: String
  public let kind: String
  public let statistics: [Day]

  public init(id: String, name: String, kind: String, statistics: [Day]) {
    self.id = id
    self.name = name
    self.kind = kind
    self.statistics = statistics
  }

  private enum CodingKeys: String, CodingKey {
    case id = "authorized_app_id"
    case name = "authorized_app_name"
    case kind = "authorized_app_type"
    case statistics
  }
}

/// The response to `VerificationRoute.smsErrorStatistics`: the errors of the SMS gateway by day in UTC, newest day
/// first.
///
/// The fields are those of Google's verification server. Numbers are rounded down, and what is rounded to zero is
/// absent.
public struct SMSErrorStatisticsResponse: Codable, Sendable, Hashable {
  /// A day and its errors.
  public struct Day: Codable, Sendable, Hashable {
    /// Midnight in UTC, such as `2027-01-15T00:00:00Z`.
    public let date: String
    public let errors: [ErrorCount]

    public init(date: String, errors: [ErrorCount]) {
      self.date = date
      self.errors = errors
    }

    private enum CodingKeys: String, CodingKey {
      case date
      case errors = "error_data"
    }
  }

  /// The number of errors with one code.
  public struct ErrorCount: Codable, Sendable, Hashable {
    /// The code of the gateway, such as `30003`; `queueFull`, `badNumber` or `failed` if it has sent none.
    public let code: String
    public let quantity: Int

    public init(code: String, quantity: Int) {
      self.code = code
      self.quantity = quantity
    }

    private enum CodingKeys: String, CodingKey {
      case code = "error_code"
      case quantity
    }
  }

  /// The number of the realm, which is always 1.
  public let realm: Int
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

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import StrictJSON

/// The body of `POST /v1/publish`: the keys of a diagnosed user with their verification certificate.
///
/// Names and meaning are those of Google's key server.
public struct PublishRequest: Encodable, Hashable, Sendable {
  /// The keys, 1...30.
  public var temporaryExposureKeys: [PublishKey]
  /// The app, by its registered name.
  public var healthAuthorityID: String
  /// The verification certificate.
  public var verificationPayload: String?
  /// Base64 of the secret of the HMAC in the certificate.
  public var hmacKey: String?
  /// The ten-minute interval in which symptoms began. 0 means absent.
  public var symptomOnsetInterval: Int32?
  /// True if the user was in other regions, so that the keys are exported there too.
  public var traveler: Bool?
  /// The token of the last response, which allows revising stored keys.
  public var revisionToken: String?
  /// Random text, ignored. It makes a decoy as long as a real upload.
  public var padding: String?

  /// Creates a request.
  public init(
    temporaryExposureKeys: [PublishKey], healthAuthorityID: String,
    verificationPayload: String? = nil, hmacKey: String? = nil,
    symptomOnsetInterval: Int32? = nil, traveler: Bool? = nil, revisionToken: String? = nil,
    padding: String? = nil
  ) {
    self.temporaryExposureKeys = temporaryExposureKeys
    self.healthAuthorityID = healthAuthorityID
    self.verificationPayload = verificationPayload
    self.hmacKey = hmacKey
    self.symptomOnsetInterval = symptomOnsetInterval
    self.traveler = traveler
    self.revisionToken = revisionToken
    self.padding = padding
  }
}

extension PublishRequest: Redacted {
  public var description: String { "PublishRequest(\(temporaryExposureKeys.count) keys)" }
}

/// One Temporary Exposure Key of a `PublishRequest`, not yet validated.
public struct PublishKey: Codable, Hashable, Sendable {
  /// Base64 of the 16 bytes in either alphabet. The HMAC uses the text as sent.
  public var key: String
  /// The first ten-minute interval for which the key is valid.
  public var rollingStartNumber: Int32
  /// The number of intervals for which the key is valid.
  public var rollingPeriod: Int32
  /// The risk level, 0...8. The HMAC distinguishes an absent level from 0.
  public var transmissionRisk: Int?

  /// Creates a key.
  public init(
    key: String, rollingStartNumber: Int32, rollingPeriod: Int32 = 144, transmissionRisk: Int? = nil
  ) {
    self.key = key
    self.rollingStartNumber = rollingStartNumber
    self.rollingPeriod = rollingPeriod
    self.transmissionRisk = transmissionRisk
  }
}

extension PublishKey: Redacted {
  public var description: String { "PublishKey(from \(rollingStartNumber))" }
}

extension PublishRequest {
  /// Decodes a body strictly: one object, no unknown field, no field twice, every value of its type.
  ///
  /// Field names match in any case, as in Google's key server. The padding is validated and dropped.
  public init(strictJSON body: Data) throws(StrictJSONError) {
    self.init(temporaryExposureKeys: [], healthAuthorityID: "")
    var cursor = JSONCursor(Array(body), atMost: .request)
    try cursor.object(Self.fields, ignoringCase: true) { (field, cursor) throws(StrictJSONError) in
      switch field {
      case 0:
        temporaryExposureKeys.reserveCapacity(UploadLimit.keyCount.upperBound)
        try cursor.array { (cursor) throws(StrictJSONError) in
          temporaryExposureKeys.append(try PublishKey(&cursor))
        }
      case 1: healthAuthorityID = try cursor.string()
      case 2: verificationPayload = try cursor.string()
      case 3: hmacKey = try cursor.string()
      case 4: symptomOnsetInterval = try cursor.shortInteger()
      case 5: traveler = try cursor.boolean()
      case 6: revisionToken = try cursor.string()
      default: try cursor.skipString()
      }
    }
    try cursor.end()
  }

  private static let fields: [StaticString] = [
    "temporaryexposurekeys", "healthauthorityid", "verificationpayload", "hmackey",
    "symptomonsetinterval", "traveler", "revisiontoken", "padding",
  ]
}

extension PublishKey {
  private static let fields: [StaticString] = [
    "key", "rollingstartnumber", "rollingperiod", "transmissionrisk",
  ]

  /// An absent field becomes empty or 0, which `UploadLimit` then rejects.
  fileprivate init(_ cursor: inout JSONCursor) throws(StrictJSONError) {
    self.init(key: "", rollingStartNumber: 0, rollingPeriod: 0)
    try cursor.object(Self.fields, ignoringCase: true) { (field, cursor) throws(StrictJSONError) in
      switch field {
      case 0: key = try cursor.string()
      case 1: rollingStartNumber = try cursor.shortInteger()
      case 2: rollingPeriod = try cursor.shortInteger()
      default: transmissionRisk = Int(try cursor.integer())
      }
    }
  }
}

extension JSONCursor {
  fileprivate mutating func shortInteger() throws(StrictJSONError) -> Int32 {
    guard let number = Int32(exactly: try integer()) else { throw .wrongType }
    return number
  }
}

/// The response of `/v1/publish`. The server adds `padding`.
public struct PublishResponse: Codable, Hashable, Sendable {
  /// The token to send with the next upload of the same phone.
  public var revisionToken: String?
  /// The number of new keys. Revised ones do not count.
  public var insertedExposures: Int?
  /// The error in one sentence.
  public var error: String?
  /// The error for programs.
  public var code: PublishCode?
  /// Hints for the developers of the app.
  public var warnings: [String]?

  /// Creates a response.
  public init(
    revisionToken: String? = nil, insertedExposures: Int? = nil, error: String? = nil,
    code: PublishCode? = nil, warnings: [String]? = nil
  ) {
    self.revisionToken = revisionToken
    self.insertedExposures = insertedExposures
    self.error = error
    self.code = code
    self.warnings = warnings
  }
}

extension PublishResponse: Redacted {
  public var description: String { "PublishResponse(\(code?.rawValue ?? "ok"))" }
}

/// The error codes of `/v1/publish` and `/v1/stats`.
public enum PublishCode: String, Codable, Sendable, CaseIterable {
  /// The app is not registered.
  case unknownHealthAuthorityID = "unknown_health_authority_id"
  /// The registration of the app cannot be read: retry later.
  case unableToLoadHealthAuthority = "unable_to_load_health_authority"
  /// The app has no region.
  case missingRegionConfiguration = "health_authority_missing_region_config"
  /// The certificate is invalid, or not for these keys.
  case certificateInvalid = "health_authority_verification_certificate_invalid"
  /// The request is invalid.
  case badRequest = "bad_request"
  /// A key exists, and the request has no revision token.
  case missingRevisionToken = "missing_revision_token"
  /// A key exists, and the revision token does not contain it.
  case invalidRevisionToken = "invalid_revision_token"
  /// A key was revised before, which is allowed once.
  case keyAlreadyRevised = "key_already_revised"
  /// The report type of a key cannot change to that of the certificate.
  case invalidReportTypeTransition = "invalid_report_type_transition"
  /// Nothing was stored: retry later.
  case internalError = "internal_error"
  /// Some keys were stored and others dropped.
  case partialFailure = "partial_failure"
  /// The bearer token does not allow statistics.
  case unauthorized
  /// Too many attempts from one address: retry later.
  case tooManyRequests = "too_many_requests"
}

/// Limits of `/v1/publish` that differ from `UploadLimit`.
public enum PublishLimit {
  /// The maximum size of the body, in bytes.
  public static let bodyBytesMax = 64_000
  /// The minimum size of a response, in bytes: it has room for a revision token.
  public static let responseBytesMin = 4_096
}

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

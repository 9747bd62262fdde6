import Foundation

extension PublishRequest {
  /// Reads a body strictly: one object, no field that is not documented, each of its type, none twice.
  ///
  /// The padding is looked over and not kept.
  public init(strictJSON body: Data) throws(StrictJSONError) {
    self.init(temporaryExposureKeys: [], healthAuthorityID: "")
    var cursor = JSONCursor(Array(body))
    try cursor.object(Self.fields) { (field, cursor) throws(StrictJSONError) in
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

  /// A field that is absent is empty or 0, which the limits then refuse.
  fileprivate init(_ cursor: inout JSONCursor) throws(StrictJSONError) {
    self.init(key: "", rollingStartNumber: 0, rollingPeriod: 0)
    try cursor.object(Self.fields) { (field, cursor) throws(StrictJSONError) in
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
  /// A whole number within 32 bits.
  fileprivate mutating func shortInteger() throws(StrictJSONError) -> Int32 {
    guard let number = Int32(exactly: try integer()) else { throw .wrongType }
    return number
  }
}

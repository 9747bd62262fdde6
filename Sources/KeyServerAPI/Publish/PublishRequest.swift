import Foundation

/// `POST /v1/publish`: the keys of a diagnosed person, with the certificate that lets them be published.
///
/// Documentation/KeyServer.md 7.1. Names and meaning are those of Google's key server.
public struct PublishRequest: Encodable, Hashable, Sendable {
  /// The keys, 1...30.
  public var temporaryExposureKeys: [PublishKey]
  /// Which app asks, by the name it was given here.
  public var healthAuthorityID: String
  /// The certificate.
  public var verificationPayload: String?
  /// Base64 of the secret whose HMAC over the keys the certificate carries.
  public var hmacKey: String?
  /// The ten-minute interval in which symptoms began; 0 and absent are the same.
  public var symptomOnsetInterval: Int32?
  /// Whether the person was in other regions, so that the keys count there too.
  public var traveler: Bool?
  /// What the last answer said, for revising keys that are in already.
  public var revisionToken: String?
  /// Random text, thrown away: a decoy is as long as a real upload.
  public var padding: String?

  /// A request in the words of the wire.
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

extension PublishRequest: CustomStringConvertible, CustomReflectable {
  /// The number of keys only: the rest is secret.
  public var description: String { "PublishRequest(\(temporaryExposureKeys.count) keys)" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

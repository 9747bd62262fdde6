/// The `data` of an upload.
///
/// Documentation/SeedContract.md 4.1.
public struct UploadPayload: Codable, Hashable, Sendable {
  /// The keys, 1...30.
  public var temporaryExposureKeys: [UploadKey]
  /// Where the keys count, as two upper-case letters each: `PL`.
  public var regions: [String]
  /// `ios` or `android`.
  public var platform: String
  /// The app's bundle id or package name.
  public var appPackageName: String
  /// The upload token; without one the answer is 401.
  public var verificationPayload: String?
  /// Base64 of the secret whose HMAC over the keys the token carries; needed where it carries one.
  public var hmackey: String?
  /// Base64 of a `DeviceVerificationPayload`; the server needs it from some platforms.
  public var deviceVerificationPayload: String?

  /// A payload in the words of the wire.
  public init(
    temporaryExposureKeys: [UploadKey], regions: [String], platform: String,
    appPackageName: String, verificationPayload: String?, hmackey: String? = nil,
    deviceVerificationPayload: String? = nil
  ) {
    self.temporaryExposureKeys = temporaryExposureKeys
    self.regions = regions
    self.platform = platform
    self.appPackageName = appPackageName
    self.verificationPayload = verificationPayload
    self.hmackey = hmackey
    self.deviceVerificationPayload = deviceVerificationPayload
  }
}

extension UploadPayload: CustomStringConvertible, CustomReflectable {
  /// The number of keys only: the rest is secret.
  public var description: String { "UploadPayload(\(temporaryExposureKeys.count) keys)" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

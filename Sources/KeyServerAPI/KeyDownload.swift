/// How patiently a phone fetches key files.
///
/// Documentation/SeedContract.md 6.4.
public struct KeyDownload: Codable, Hashable, Sendable {
  /// Seconds for one file over a mobile network, 1...3600.
  public var timeoutMobileSeconds: Int
  /// Seconds for one file over Wi-Fi, 1...3600.
  public var timeoutWifiSeconds: Int
  /// How often a failed file is tried again, 0...10.
  public var retryCount: Int

  /// Two timeouts and a number of retries.
  public init(timeoutMobileSeconds: Int, timeoutWifiSeconds: Int, retryCount: Int) {
    self.timeoutMobileSeconds = timeoutMobileSeconds
    self.timeoutWifiSeconds = timeoutWifiSeconds
    self.retryCount = retryCount
  }

  /// What ProteGO Safe shipped with.
  public static let protegoDefault = KeyDownload(
    timeoutMobileSeconds: 120, timeoutWifiSeconds: 60, retryCount: 2)

  /// Never throws for a key that is missing or of another type.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let standard = Self.protegoDefault
    timeoutMobileSeconds = values.value(.timeoutMobileSeconds, or: standard.timeoutMobileSeconds)
    timeoutWifiSeconds = values.value(.timeoutWifiSeconds, or: standard.timeoutWifiSeconds)
    retryCount = values.value(.retryCount, or: standard.retryCount)
  }

  /// The first value out of bounds, as a sentence that names its field, or nil.
  var fault: String? {
    if !(1...3_600).contains(timeoutMobileSeconds) {
      return "timeoutMobileSeconds must be 1 to 3600."
    }
    if !(1...3_600).contains(timeoutWifiSeconds) { return "timeoutWifiSeconds must be 1 to 3600." }
    return (0...10).contains(retryCount) ? nil : "retryCount must be 0 to 10."
  }
}

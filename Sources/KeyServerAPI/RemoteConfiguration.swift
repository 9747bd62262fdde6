/// Settings that the health authority can change on all phones without a new app version.
///
/// A missing key, or one of another type, gets its default; the other keys keep their values.
/// `windowRiskConfiguration` and `transmissionRiskConfiguration` are used only if they are complete and valid. See
/// Documentation/ProteGOSafeContract.md, "Remote configuration".
public struct RemoteConfiguration: Codable, Hashable, Sendable {
  /// The version, which increases with every change. A phone rejects a lower version than its own.
  public var version: Int
  /// The scoring of one exposure.
  public var exposureConfiguration: RiskScoringParameters
  /// The thresholds between the risk levels.
  public var riskLevelConfiguration: RiskScoreThresholds
  /// Timeouts and retries of key file downloads.
  public var diagnosisKeyDownloadConfiguration: KeyDownload
  /// The rules of apps with ENAPIVersion 2; nil for those that the app is built with.
  public var windowRiskConfiguration: WindowRiskConfiguration?
  /// The transmission risk of uploaded keys by a stated date; nil for ProteGO Safe's constant 8.
  public var transmissionRiskConfiguration: TransmissionRiskConfiguration?

  /// Creates a configuration.
  public init(
    version: Int, exposureConfiguration: RiskScoringParameters = .protegoDefault,
    riskLevelConfiguration: RiskScoreThresholds = .protegoDefault,
    diagnosisKeyDownloadConfiguration: KeyDownload = .protegoDefault,
    windowRiskConfiguration: WindowRiskConfiguration? = nil,
    transmissionRiskConfiguration: TransmissionRiskConfiguration? = nil
  ) {
    self.version = version
    self.exposureConfiguration = exposureConfiguration
    self.riskLevelConfiguration = riskLevelConfiguration
    self.diagnosisKeyDownloadConfiguration = diagnosisKeyDownloadConfiguration
    self.windowRiskConfiguration = windowRiskConfiguration
    self.transmissionRiskConfiguration = transmissionRiskConfiguration
  }

  private enum CodingKeys: CodingKey {
    case version, exposureConfiguration, riskLevelConfiguration
    case diagnosisKeyDownloadConfiguration, windowRiskConfiguration
    case transmissionRiskConfiguration
  }

  /// The values of ProteGO Safe.
  public static let protegoDefault = RemoteConfiguration(version: 0)

  /// Decodes leniently: a missing key, or one of another type, gets its default.
  ///
  /// - Throws: `DecodingError` if `windowRiskConfiguration` or `transmissionRiskConfiguration` is present
  ///   but incomplete. This reports the error to the authority that writes it; a phone ignores the part.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      values,
      windowRisk: try values.decodeIfPresent(
        WindowRiskConfiguration.self, forKey: .windowRiskConfiguration),
      transmissionRisk: try values.decodeIfPresent(
        TransmissionRiskConfiguration.self, forKey: .transmissionRiskConfiguration))
  }

  private init(
    _ values: KeyedDecodingContainer<CodingKeys>, windowRisk: WindowRiskConfiguration?,
    transmissionRisk: TransmissionRiskConfiguration?
  ) {
    let standard = Self.protegoDefault
    version = values.value(.version, or: standard.version)
    exposureConfiguration = values.value(
      .exposureConfiguration, or: standard.exposureConfiguration)
    riskLevelConfiguration = values.value(
      .riskLevelConfiguration, or: standard.riskLevelConfiguration)
    diagnosisKeyDownloadConfiguration = values.value(
      .diagnosisKeyDownloadConfiguration, or: standard.diagnosisKeyDownloadConfiguration)
    windowRiskConfiguration = windowRisk
    transmissionRiskConfiguration = transmissionRisk
  }

  /// A configuration as a phone reads it: an invalid part, for example one of a later version, counts as missing.
  struct Received: Decodable {
    let configuration: RemoteConfiguration

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      let windows = try? values.decodeIfPresent(
        WindowRiskConfiguration.self, forKey: .windowRiskConfiguration)
      let transmission = try? values.decodeIfPresent(
        TransmissionRiskConfiguration.self, forKey: .transmissionRiskConfiguration)
      configuration = RemoteConfiguration(
        values, windowRisk: windows.flatMap { $0.fault == nil ? $0 : nil },
        transmissionRisk: transmission.flatMap { $0.fault == nil ? $0 : nil })
    }
  }
}

extension RemoteConfiguration {
  /// A sentence that names the first field with an invalid value, or nil.
  public var fault: String? {
    version < 0
      ? "version must not be negative."
      : exposureConfiguration.fault ?? riskLevelConfiguration.fault
        ?? diagnosisKeyDownloadConfiguration.fault
        ?? windowRiskConfiguration?.fault.map { "windowRiskConfiguration.\($0)" }
        ?? transmissionRiskConfiguration?.fault.map { "transmissionRiskConfiguration.\($0)" }
  }
}

/// The highest scores (0...4096) of each risk level. A score above `maxMiddleRiskScore` is a high risk.
public struct RiskScoreThresholds: Codable, Hashable, Sendable {
  /// The highest score without a risk.
  public var maxNoRiskScore: Int
  /// The highest score of a low risk.
  public var maxLowRiskScore: Int
  /// The highest score of a medium risk.
  public var maxMiddleRiskScore: Int

  /// Creates three ascending thresholds.
  public init(maxNoRiskScore: Int, maxLowRiskScore: Int, maxMiddleRiskScore: Int) {
    self.maxNoRiskScore = maxNoRiskScore
    self.maxLowRiskScore = maxLowRiskScore
    self.maxMiddleRiskScore = maxMiddleRiskScore
  }

  /// The values of ProteGO Safe.
  public static let protegoDefault = RiskScoreThresholds(
    maxNoRiskScore: 0, maxLowRiskScore: 1_499, maxMiddleRiskScore: 2_999)

  /// Decodes leniently: a missing key, or one of another type, gets its default.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let standard = Self.protegoDefault
    maxNoRiskScore = values.value(.maxNoRiskScore, or: standard.maxNoRiskScore)
    maxLowRiskScore = values.value(.maxLowRiskScore, or: standard.maxLowRiskScore)
    maxMiddleRiskScore = values.value(.maxMiddleRiskScore, or: standard.maxMiddleRiskScore)
  }

  var fault: String? {
    let levels = [
      ("maxNoRiskScore", maxNoRiskScore), ("maxLowRiskScore", maxLowRiskScore),
      ("maxMiddleRiskScore", maxMiddleRiskScore),
    ]
    for (name, score) in levels where !(0...4_096).contains(score) {
      return "\(name) must be 0 to 4096."
    }
    for ((lower, low), (upper, high)) in zip(levels, levels.dropFirst()) where low >= high {
      return "\(upper) must be more than \(lower)."
    }
    return nil
  }
}

/// Timeouts and retries of key file downloads.
public struct KeyDownload: Codable, Hashable, Sendable {
  /// The timeout of one file over a mobile network, 1...3600 seconds.
  public var timeoutMobileSeconds: Int
  /// The timeout of one file over Wi-Fi, 1...3600 seconds.
  public var timeoutWifiSeconds: Int
  /// The number of retries of a failed file, 0...10.
  public var retryCount: Int

  /// Creates download settings.
  public init(timeoutMobileSeconds: Int, timeoutWifiSeconds: Int, retryCount: Int) {
    self.timeoutMobileSeconds = timeoutMobileSeconds
    self.timeoutWifiSeconds = timeoutWifiSeconds
    self.retryCount = retryCount
  }

  /// The values of ProteGO Safe.
  public static let protegoDefault = KeyDownload(
    timeoutMobileSeconds: 120, timeoutWifiSeconds: 60, retryCount: 2)

  /// Decodes leniently: a missing key, or one of another type, gets its default.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let standard = Self.protegoDefault
    timeoutMobileSeconds = values.value(.timeoutMobileSeconds, or: standard.timeoutMobileSeconds)
    timeoutWifiSeconds = values.value(.timeoutWifiSeconds, or: standard.timeoutWifiSeconds)
    retryCount = values.value(.retryCount, or: standard.retryCount)
  }

  var fault: String? {
    if !(1...3_600).contains(timeoutMobileSeconds) {
      return "timeoutMobileSeconds must be 1 to 3600."
    }
    if !(1...3_600).contains(timeoutWifiSeconds) { return "timeoutWifiSeconds must be 1 to 3600." }
    return (0...10).contains(retryCount) ? nil : "retryCount must be 0 to 10."
  }
}

extension KeyedDecodingContainer {
  /// The value of `key`, or `standard` if it is missing or of another type.
  func value<Value: Decodable>(_ key: Key, or standard: Value) -> Value {
    (try? decodeIfPresent(Value.self, forKey: key)) ?? standard
  }
}

// SPDX-License-Identifier: Apache-2.0
import RiskRules
import TextEncodings

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
      let windows: WindowRiskConfiguration? = values.readable(.windowRiskConfiguration)
      let transmission: TransmissionRiskConfiguration? =
        values.readable(.transmissionRiskConfiguration)
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

/// The transmission risk of uploaded keys by the date that the user states: of their test, or of their first symptoms.
///
/// It is decoded strictly, because each value changes the risk that others are told. Without it, phones give all keys
/// the risk 8, as ProteGO Safe does.
public struct TransmissionRiskConfiguration: Codable, Hashable, Sendable {
  /// The risk of all keys if no date is stated, 1...8.
  public var withoutDate: Int
  /// The risk by the days from the test to the day of the key, `-14` to `14`. 0 means that the key is not shared; a
  /// missing day counts as 0.
  public var daysSinceTest: [String: Int]
  /// The risk by the days from the first symptoms to the day of the key, in the same form.
  public var daysSinceOnsetOfSymptoms: [String: Int]

  /// Creates a configuration.
  public init(
    withoutDate: Int = 8, daysSinceTest: [String: Int], daysSinceOnsetOfSymptoms: [String: Int]
  ) {
    self.withoutDate = withoutDate
    self.daysSinceTest = daysSinceTest
    self.daysSinceOnsetOfSymptoms = daysSinceOnsetOfSymptoms
  }

  /// The days of both tables.
  public static let days = -14...14
  /// The risks of shared keys.
  public static let risks = 1...8

  /// The risk of a key whose day is `days` after the test; `nil` if the key is not shared.
  public func risk(daysSinceTest days: Int) -> Int? {
    Self.shared(daysSinceTest["\(days)"])
  }

  /// The risk of a key whose day is `days` after the first symptoms; `nil` if the key is not shared.
  public func risk(daysSinceOnsetOfSymptoms days: Int) -> Int? {
    Self.shared(daysSinceOnsetOfSymptoms["\(days)"])
  }

  private static func shared(_ risk: Int?) -> Int? {
    risk.flatMap { risks.contains($0) ? $0 : nil }
  }

  var fault: String? {
    if !Self.risks.contains(withoutDate) { return "withoutDate must be 1 to 8." }
    return Self.fault(in: daysSinceTest, named: "daysSinceTest")
      ?? Self.fault(in: daysSinceOnsetOfSymptoms, named: "daysSinceOnsetOfSymptoms")
  }

  private static func fault(in table: [String: Int], named name: String) -> String? {
    let areEntries = table.allSatisfy { day, risk in
      Int(day).map { days.contains($0) && "\($0)" == day } == true
        && (risk == 0 || risks.contains(risk))
    }
    guard areEntries else { return "\(name) must map days from -14 to 14 to risks from 0 to 8." }
    return table.values.contains { $0 > 0 }
      ? nil : "\(name) must have a day above 0; without one, no key is shared."
  }
}

/// What the health authority may change on all phones without a new app.
///
/// Documentation/SeedContract.md 6. A key that is absent or of another type takes its own default
/// and leaves the others alone.
public struct RemoteConfiguration: Codable, Hashable, Sendable {
  /// Counts up with every change; a phone takes none that is lower than what it has.
  public var version: Int
  /// How the framework scores one exposure.
  public var exposureConfiguration: ExposureScoring
  /// From which score on a person is told what.
  public var riskLevelConfiguration: RiskLevels
  /// How patiently key files are fetched.
  public var diagnosisKeyDownloadConfiguration: KeyDownload

  /// A configuration of these parts.
  public init(
    version: Int, exposureConfiguration: ExposureScoring = .protegoDefault,
    riskLevelConfiguration: RiskLevels = .protegoDefault,
    diagnosisKeyDownloadConfiguration: KeyDownload = .protegoDefault
  ) {
    self.version = version
    self.exposureConfiguration = exposureConfiguration
    self.riskLevelConfiguration = riskLevelConfiguration
    self.diagnosisKeyDownloadConfiguration = diagnosisKeyDownloadConfiguration
  }

  /// What ProteGO Safe shipped with.
  public static let protegoDefault = RemoteConfiguration(version: 0)

  /// Never throws for a key that is missing or of another type.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let standard = Self.protegoDefault
    version = values.value(.version, or: standard.version)
    exposureConfiguration = values.value(
      .exposureConfiguration, or: standard.exposureConfiguration)
    riskLevelConfiguration = values.value(
      .riskLevelConfiguration, or: standard.riskLevelConfiguration)
    diagnosisKeyDownloadConfiguration = values.value(
      .diagnosisKeyDownloadConfiguration, or: standard.diagnosisKeyDownloadConfiguration)
  }
}

extension RemoteConfiguration {
  /// The first value out of bounds, as a sentence that names its field, or nil.
  public var fault: String? {
    version < 0
      ? "version must not be negative."
      : exposureConfiguration.fault ?? riskLevelConfiguration.fault
        ?? diagnosisKeyDownloadConfiguration.fault
  }
}

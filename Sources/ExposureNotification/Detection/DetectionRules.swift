import DiagnosisKeyFile
import Foundation

/// The rules of a detection, read from an app's configuration and the device's settings.
struct DetectionRules: Sendable {
  let scoring: DetectionScoring
  /// True if keys that were used for less than a day are ignored.
  let requiresFullDayKeys: Bool
  let verificationKeys: [VerificationPublicKey]
  /// The region of accepted files; nil if the signature alone decides.
  private let region: String?

  /// - Throws: `ENError.badParameter` with an explanation that names the invalid field.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int,
    verificationKeys: [VerificationPublicKey]
  ) throws(ENError) {
    scoring = try DetectionScoring(configuration, apiVersion: apiVersion)
    requiresFullDayKeys = false
    self.verificationKeys = verificationKeys
    region = nil
  }

  /// Creates rules for a device of `region`.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int, durationStep: Int = 1,
    requiresFullDayKeys: Bool = false, region: RegionConfiguration
  ) throws(ENError) {
    scoring = try DetectionScoring(
      configuration, apiVersion: apiVersion, durationStep: durationStep)
    self.requiresFullDayKeys = requiresFullDayKeys
    verificationKeys = region.keys
    self.region = region.region
  }

  /// The infectiousness by days since the onset of symptoms; version 2 only.
  var infectiousnessMap: [Int: UInt32]? {
    guard case .windows(let rules, _) = scoring else { return nil }
    return rules.map
  }

  /// Checks that a file belongs to the region.
  ///
  /// A file names its region by the ISO code of the country or state, or by the key identifier, as in Apple's
  /// example. If it names none, the signature alone decides.
  ///
  /// - Throws: `ENError.badFormat` if the file belongs to another region.
  func check(_ header: KeyFileHeader) throws(ENError) {
    guard let region, !header.region.isEmpty else { return }
    let country = region.split(separator: "-").first.map(String.init) ?? region
    let names = [region, country] + verificationKeys.map(\.keyID)
    guard names.contains(header.region) else {
      throw ENError(
        .badFormat,
        explanation:
          "A key file belongs to another region than \(region); pass files of this region.")
    }
  }
}

/// The scoring of one API version.
enum DetectionScoring: Hashable, Sendable {
  case exposures(ExposureScoringV1)
  case windows(WindowRules, WindowScoring)

  /// Validates `configuration` for `apiVersion` (1 or 2). Version 1 rounds durations up to a multiple of
  /// `durationStep` minutes.
  ///
  /// - Throws: `ENError.badParameter` with an explanation that names the invalid field.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int, durationStep: Int = 1
  ) throws(ENError) {
    switch apiVersion {
    case 1:
      self = .exposures(
        try ExposureScoringV1(configuration, durationStep: durationStep))
    case 2: self = .windows(try WindowRules(configuration), try WindowScoring(configuration))
    default:
      throw ENError(.badParameter, explanation: "The API version is invalid; set it to 1 or 2.")
    }
  }

  func result(of matches: [KeyMatch], now: Date) -> DetectionResult {
    switch self {
    case .exposures(let scoring): scoring.result(of: matches, now: now)
    case .windows(let rules, let scoring):
      Self.result(of: matches.map(rules.windows).filter { !$0.isEmpty }, scoring, now: now)
    }
  }

  private static func result(
    of windowsOfKeys: [[ExposureWindow]], _ scoring: WindowScoring, now: Date
  ) -> DetectionResult {
    let windows = windowsOfKeys.flatMap(\.self).sorted(by: ExposureWindow.byContent)
    var summary = ExposureSummary()
    summary.matchedKeyCount = windowsOfKeys.count
    summary.daysSinceLastExposure =
      windows.map { Day(of: $0.date).count(to: Day(of: now)) }.min() ?? 0
    summary.days = scoring.days(of: windows, today: now)
    return DetectionResult(found: summary, exposureWindows: windows)
  }
}

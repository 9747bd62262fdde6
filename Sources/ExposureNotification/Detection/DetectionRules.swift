import DiagnosisKeyFile
import Foundation

/// How a detection judges files and matches, taken from an app's configuration and the phone.
///
/// A value: the app may change its configuration object afterwards.
struct DetectionRules: Sendable {
  let scoring: DetectionScoring
  let requiresFullDayKeys: Bool
  let verificationKeys: [VerificationPublicKey]
  /// The region whose files are taken; nil where the keys alone decide.
  private let region: String?

  /// Throws `ENError.badParameter` with a sentence that names the field out of range.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int,
    verificationKeys: [VerificationPublicKey]
  ) throws(ENError) {
    scoring = try DetectionScoring(configuration, apiVersion: apiVersion)
    requiresFullDayKeys = false
    self.verificationKeys = verificationKeys
    region = nil
  }

  /// The rules of a phone of `region`.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int, durationStep: Int = 1,
    requiresFullDayKeys: Bool = false, region: RegionConfiguration
  ) throws(ENError) {
    scoring = try DetectionScoring(configuration, apiVersion: apiVersion, durationStep: durationStep)
    self.requiresFullDayKeys = requiresFullDayKeys
    verificationKeys = region.keys
    self.region = region.region
  }

  /// Days since the first symptoms to how infectious; version 2 only.
  var infectiousnessMap: [Int: UInt32]? {
    guard case .windows(let rules, _) = scoring else { return nil }
    return rules.map
  }

  /// Throws `ENError.badFormat` for the file of another region.
  ///
  /// A file names its region by ISO code, of the country or the state, or by the identifier of the
  /// key, as Apple's example does; one that names none is judged by its signature alone.
  func check(_ header: KeyFileHeader) throws(ENError) {
    guard let region, !header.region.isEmpty else { return }
    let country = region.split(separator: "-").first.map(String.init) ?? region
    let names = [region, country] + verificationKeys.map(\.keyID)
    guard names.contains(header.region) else {
      throw ENError(
        .badFormat,
        explanation: "A key file is of another region than \(region); pass those of this region.")
    }
  }
}

/// What is made of matches: the scores of version 1 or the windows of version 2.
enum DetectionScoring: Hashable, Sendable {
  case exposures(ExposureScoringV1)
  case windows(WindowRules, WindowScoring)

  /// Takes over `configuration` for `apiVersion` (1 or 2); throws `ENError.badParameter` with a
  /// sentence that names what is wrong.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int, durationStep: Int = 1
  ) throws(ENError) {
    switch apiVersion {
    case 1:
      self = .exposures(
        try ExposureScoringV1(configuration, durationStep: durationStep))
    case 2: self = .windows(try WindowRules(configuration), try WindowScoring(configuration))
    default: throw ENError(.badParameter, explanation: "The API version is 1 or 2; correct it.")
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

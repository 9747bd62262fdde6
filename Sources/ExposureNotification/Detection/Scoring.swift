import Foundation

/// What is made of matches: the scores of version 1 or the windows of version 2.
enum Scoring: Hashable, Sendable {
  case exposures(ExposureScoring)
  case windows(WindowRules, WindowScoring)

  /// Takes over `configuration` for `apiVersion` (1 or 2); throws `ENError.badParameter` with a
  /// sentence that names what is wrong. `durationStep` is in minutes and used by version 1.
  init(
    _ configuration: ENExposureConfiguration, apiVersion: Int, durationStep: Int = 1
  ) throws(ENError) {
    switch apiVersion {
    case 1:
      self = .exposures(
        try ExposureScoring(configuration, durationStep: durationStep))
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

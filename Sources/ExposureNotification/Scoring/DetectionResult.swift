// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The result of one detection.
package struct DetectionResult: Hashable, Sendable {
  package let found: ExposureSummary
  /// The exposures of version 1 that reach the minimum scores.
  package let incidents: [ScoredIncident]
  /// The windows of version 2, in an order that does not show which belong together.
  package let exposureWindows: [ExposureWindow]

  init(
    found: ExposureSummary, incidents: [ScoredIncident] = [],
    exposureWindows: [ExposureWindow] = []
  ) {
    self.found = found
    self.incidents = incidents
    self.exposureWindows = exposureWindows
  }

  package var matchedKeyCount: Int { found.matchedKeyCount }
}

/// The totals of a detection.
package struct ExposureSummary: Hashable, Sendable {
  /// The number of distinct keys that matched, with any score.
  package var matchedKeyCount = 0
  /// Days since the latest matched key, with any score; 0 if none matched.
  package var daysSinceLastExposure = 0
  /// Seconds in each attenuation range over all exposures that reach the minimum scores; version 1 only.
  package var attenuationDurations: [Int] = []
  /// The highest score.
  package var maximumScore = RiskScore(fullRange: 0)
  /// The sum of the uncapped scores.
  package var scoreSumFullRange = 0
  /// The exposures by day, oldest first; version 2 only.
  package var days: [DaySummary] = []

  package init() {}
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

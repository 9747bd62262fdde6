import ExposureNotification
import Foundation
import KeyServerAPI

extension Framework {
  /// Analyses files with API version 1; cancelling the task cancels the framework's operation.
  ///
  /// The exposures are requested only if there is a match: the system shows the user the explanation.
  ///
  /// - Throws: `ENError`, or `CancellationError` after a cancellation even if there are results.
  func detect(in files: [URL], scoring: KeyServerAPI.RiskScoringParameters) async throws
    -> DetectedExposures
  {
    let summary = try await detect(in: files, with: scoring.frameworkConfiguration)
    let count = Int(clamping: summary.value.matchedKeyCount)
    guard count > 0 else { return DetectedExposures() }
    return DetectedExposures(
      matchedKeyCount: count, exposures: try await exposures(in: summary.value, scoring: scoring))
  }

  /// The explanation that the system shows the user with the exposures.
  static let explanation =
    "The app is checking whether you were near someone who has since tested positive."

  private func detect(
    in files: [URL], with configuration: ENExposureConfiguration
  ) async throws -> Summary {
    try await run { call in
      manager.detectExposures(configuration: configuration, diagnosisKeyURLs: files) {
        call.finish(result($0.map(Summary.init), $1))
      }
    }
  }

  private func exposures(
    in summary: ENExposureDetectionSummary, scoring: KeyServerAPI.RiskScoringParameters
  ) async throws -> [Exposure] {
    try await run { call in
      manager.getExposureInfo(summary: summary, userExplanation: Self.explanation) {
        call.finish(result($0.map { $0.compactMap { Exposure($0, scoring: scoring) } }, $1))
      }
    }
  }
}

extension Framework {
  /// Carries a summary from the framework's queue to the actor; there is no other reference to it.
  struct Summary: @unchecked Sendable {
    let value: ENExposureDetectionSummary
  }
}

extension Exposure {
  /// Copies an encounter of the framework; `nil` without a full-range score.
  fileprivate init?(_ info: ENExposureInfo, scoring: KeyServerAPI.RiskScoringParameters) {
    guard let score = info.metadata?["totalRiskScoreFullRange"] as? NSNumber else { return nil }
    self.init(
      id: UUID(), date: info.date, durationSeconds: info.duration, riskScore: score.intValue,
      bands: DistanceBand.bands(
        seconds: info.attenuationDurations.map(\.intValue), total: Int(info.duration),
        scoring: scoring))
  }
}

extension Framework {
  /// Analyses files with API version 2 and evaluates the windows of each day with the policy.
  ///
  /// - Throws: `ENError` if the detection failed, `CheckFailure` if reading the windows failed, or
  ///   `CancellationError` after a cancellation.
  func detect(in files: [URL], by assessment: WindowRiskAssessment) async throws
    -> DetectedExposures
  {
    let summary = try await detect(in: files, with: assessment.configuration())
    let found = try await windows(in: summary.value)
    return DetectedExposures(
      matchedKeyCount: Int(clamping: summary.value.matchedKeyCount),
      exposures: assessment.policy.risk(of: found).days.map(Exposure.init),
      coversAllFiles: true)
  }

  private func windows(in summary: ENExposureDetectionSummary) async throws -> [RiskWindow] {
    do {
      return try await run { call in
        manager.getExposureWindows(summary: summary) {
          call.finish(result($0.map { $0.map { RiskWindow($0) } }, $1))
        }
      }
    } catch {
      throw CheckFailure(ofWindows: error)
    }
  }
}

extension Exposure {
  /// Creates the exposure of one day.
  fileprivate init(_ day: WindowRisk.Day) {
    self.init(
      id: UUID(), date: day.date, durationSeconds: Double(day.seconds), riskScore: 0,
      judgement: DayRisk(level: day.level, normalizedMinutes: day.normalizedTime),
      bands: day.bands)
  }
}

extension KeyServerAPI.RiskScoringParameters {
  /// The framework's configuration with the same values. The thresholds are in `metadata`, as apps for
  /// iOS 13.5 set them.
  var frameworkConfiguration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScore = ENRiskScore(clamping: minimumRiskScore)
    configuration.attenuationWeight = Double(attenuationWeight)
    configuration.daysSinceLastExposureWeight = Double(daysSinceLastExposureWeight)
    configuration.durationWeight = Double(durationWeight)
    configuration.transmissionRiskWeight = Double(transmissionRiskWeight)
    configuration.attenuationLevelValues = numbers(attenuationScores)
    configuration.daysSinceLastExposureLevelValues = numbers(daysSinceLastExposureScores)
    configuration.durationLevelValues = numbers(durationScores)
    configuration.transmissionRiskLevelValues = numbers(transmissionRiskScores)
    configuration.metadata = [
      "attenuationDurationThresholds": numbers(durationAtAttenuationThresholds)
    ]
    return configuration
  }

  private func numbers(_ values: [Int]) -> [NSNumber] { values.map { NSNumber(value: $0) } }
}

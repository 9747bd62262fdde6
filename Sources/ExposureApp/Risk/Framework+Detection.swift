import ExposureNotification
import Foundation
import KeyServerAPI

extension Framework {
  /// Has the files analysed; a cancelled task stops the framework in the middle.
  ///
  /// - Throws: `ENError`, or `CancellationError` after a cancellation, whatever was found by then.
  func detect(in files: [URL], scoring: KeyServerAPI.ExposureScoring) async throws -> Findings {
    let stop = StopSwitch()
    let summary = try await stop.watched {
      try await detect(in: files, with: scoring.frameworkConfiguration, stop: stop)
    }
    let found = try await stop.watched { try await exposures(in: summary.value, stop: stop) }
    return Findings(
      matchedKeyCount: Int(clamping: summary.value.matchedKeyCount), exposures: found)
  }

  /// What the system shows the person while the app looks at the encounters.
  static let explanation =
    "The app is checking whether you were near someone who has since tested positive."

  func detect(
    in files: [URL], with configuration: ENExposureConfiguration, stop: StopSwitch
  ) async throws -> Summary {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Summary, any Error>) in
      let progress = manager.detectExposures(
        configuration: configuration, diagnosisKeyURLs: files
      ) { summary, error in
        done.resume(with: result(summary.map(Summary.init), error))
      }
      stop.holds(progress)
    }
  }

  private func exposures(
    in summary: ENExposureDetectionSummary, stop: StopSwitch
  ) async throws -> [Exposure] {
    try await withCheckedThrowingContinuation {
      (done: CheckedContinuation<[Exposure], any Error>) in
      let progress = manager.getExposureInfo(summary: summary, userExplanation: Self.explanation) {
        infos, error in
        done.resume(with: result(infos.map { $0.compactMap(Exposure.init) }, error))
      }
      stop.holds(progress)
    }
  }
}

extension Framework {
  /// A summary on its way from the framework's queue to the actor; nobody else holds it.
  struct Summary: @unchecked Sendable {
    let value: ENExposureDetectionSummary
  }
}

/// What a handler was given: a value, or an error in its place.
func result<Value>(_ value: Value?, _ error: (any Error)?) -> Result<Value, any Error> {
  if let value { .success(value) } else { .failure(error ?? ENError(.internal)) }
}

extension Exposure {
  /// What the framework tells of one encounter; nil where it tells no score.
  fileprivate init?(_ info: ENExposureInfo) {
    guard let score = info.metadata?["totalRiskScoreFullRange"] as? NSNumber else { return nil }
    self.init(
      id: UUID(), date: info.date, durationSeconds: info.duration, riskScore: score.intValue)
  }
}

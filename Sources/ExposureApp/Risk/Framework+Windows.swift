import ExposureNotification
import Foundation

extension Framework {
  /// Has the files analysed in API version 2 and judges the days of all windows by the policy; a
  /// cancelled task stops the framework in the middle.
  ///
  /// - Throws: `ENError` where the detection failed, `CheckFailure` where it succeeded and the windows
  ///   did not come, `CancellationError` after a cancellation, whatever was found by then.
  func detect(in files: [URL], by assessment: WindowRiskAssessment) async throws -> Findings {
    let stop = StopSwitch()
    let summary = try await stop.watched {
      try await detect(in: files, with: assessment.configuration(), stop: stop)
    }
    let found = try await stop.watched { try await windows(in: summary.value, stop: stop) }
    return Findings(
      matchedKeyCount: Int(clamping: summary.value.matchedKeyCount),
      exposures: assessment.policy.risk(of: found).days.map(Exposure.init),
      coversAllFiles: true)
  }

  private func windows(
    in summary: ENExposureDetectionSummary, stop: StopSwitch
  ) async throws -> [RiskWindow] {
    do {
      return try await withCheckedThrowingContinuation {
        (done: CheckedContinuation<[RiskWindow], any Error>) in
        let progress = manager.getExposureWindows(summary: summary) { windows, error in
          done.resume(with: result(windows.map { $0.map { RiskWindow($0) } }, error))
        }
        stop.holds(progress)
      }
    } catch {
      throw CheckFailure(ofWindows: error)
    }
  }
}

extension Exposure {
  /// One day as a policy judges it.
  fileprivate init(_ day: WindowRisk.Day) {
    self.init(
      id: UUID(), date: day.date, durationSeconds: Double(day.seconds), riskScore: 0,
      judgement: DayJudgement(level: day.level, normalizedMinutes: day.normalizedTime))
  }
}

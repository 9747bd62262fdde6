// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import RiskRules
import World

// Functions for developers, as in the menu of Apple's sample app. None of them runs by itself.
extension ExposureApp {
  /// Adds an exposure that no beacon has caused, and shows its notice.
  ///
  /// It is one to four days old, lasts 5 to 25 minutes, and is a risk. With rules for exposure windows, the
  /// next detection removes it, because it covers all days again.
  @discardableResult public func simulateExposure() async throws(StorageFailure) -> Exposure {
    let now = context.now
    let thresholds = context.remote.riskLevelConfiguration
    let exposure = Exposure.simulated(
      at: now, scores: min(thresholds.maxNoRiskScore + 1, RiskRule.scoreMax)...RiskRule.scoreMax,
      isJudged: context.configuration.windowRisk != nil, randomness: context.randomness)
    try context.store.update { $0.exposures.append(exposure) }
    context.announce(.exposureFound(context.riskLevel))
    await notices.showDueRisk()
    return exposure
  }

  /// Records a check that failed because the server could not be reached. The next check clears it.
  public func simulateFailedCheck() throws(StorageFailure) {
    let now = context.now
    try context.store.update { $0.history.finish(.noConnection, at: now) }
    context.announce(.checkFinished(.failed(.noConnection)))
  }

  /// Starts the onboarding again. Exposures and the history stay.
  public func resetOnboarding() throws(StorageFailure) {
    try context.store.update { state in
      state.isOnboarded = false
      // A new user has not lost a permission.
      state.wasAuthorized = false
    }
    context.announce(.consentChanged)
  }

  /// Forgets which key files were analysed. The next check analyses those of the last fourteen days again.
  public func resetDownloads() throws(StorageFailure) {
    try context.store.update { $0.download.restart() }
  }
}

extension Exposure {
  private static let days = 1...4
  private static let minutes = 5...25

  fileprivate static func simulated(
    at now: Date, scores: ClosedRange<Int>, isJudged: Bool, randomness: any Randomness
  ) -> Exposure {
    let minutes = randomness.number(in: minutes)
    let level: WindowRiskLevel = randomness.number(in: 0...1) == 0 ? .low : .high
    return Exposure(
      id: UUID(), day: UTCDay(now.unixDay - randomness.number(in: days)),
      durationSeconds: Double(minutes * 60),
      riskScore: isJudged ? 0 : randomness.number(in: scores),
      judgement: isJudged ? DayRisk(level: level, normalizedMinutes: Double(minutes)) : nil)
  }
}

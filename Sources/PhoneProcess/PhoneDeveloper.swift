import ExposureApp
import ExposureNotification
import Foundation

/// The functions of the developer menu; the raw values are those of the bridge's message 1012.
package enum DeveloperAction: String, Hashable, Sendable, CaseIterable {
  /// Checks now.
  case detectNow
  /// Adds an exposure that no beacon has caused.
  case simulateExposure
  /// Records a failed check.
  case simulateFailure
  /// Removes all exposures.
  case resetExposures
  /// Withdraws the permission and starts the onboarding again.
  case resetOnboarding
  /// Forgets which key files were analysed.
  case resetCursor
  /// Lists the keys that an upload would share, without the keys themselves.
  case showKeys
  /// Lists servers, rules and times.
  case showConfiguration
}

extension Phone {
  /// Performs a function of the developer menu; returns the text of its result in English.
  ///
  /// - Throws: `ENError`, or an error of the storage.
  package func develop(_ action: DeveloperAction) async throws -> String {
    switch action {
    case .detectNow: return await perform(PhoneRequest(.check)).text
    case .simulateExposure: return try await app.simulateExposure().line
    case .simulateFailure:
      try await app.simulateFailedCheck()
      return "Recorded: \(CheckFailure.noConnection.description)"
    case .resetExposures:
      try await app.removeExposures()
      return "All exposures were removed."
    case .resetOnboarding:
      try await device.forgetAuthorization()
      try preferences.update { $0.hasDeclined = false }
      try await app.resetOnboarding()
      return "The permission was withdrawn, and the onboarding starts again."
    case .resetCursor:
      try await app.resetDownloads()
      return "The next check analyses the key files of the last fourteen days again."
    case .showKeys: return try await keyLines()
    case .showConfiguration: return await configurationLines()
    }
  }

  private func keyLines() async throws -> String {
    let keys = try await uploadPreview(.notStated).keys
    guard !keys.isEmpty else { return "The phone has no finished key yet." }
    return keys.map {
      "\($0.day)  period \($0.rollingPeriod)  transmission risk \($0.transmissionRisk)"
    }.joined(separator: "\n")
  }

  private func configurationLines() async -> String {
    let cursor = await app.cursor.map { Date(timeIntervalSince1970: Double($0)).timeText } ?? "none"
    let rules = await app.riskRules.map { rule in
      "risk \(rule.level.rawValue)               score \(rule.scores.lowerBound) to \(rule.scores.upperBound)"
    }
    let lines = [
      "verification server  \(settings.app.verificationServer.absoluteString)",
      "key server           \(settings.app.keyServer.absoluteString)",
      "app                  \(settings.app.appPackageName), "
        + "region \(([settings.app.region] + settings.app.otherRegions).joined(separator: " "))",
      "framework interface  version \(settings.apiVersion)",
      "analysed up to       \(cursor)",
      "next check           \(await app.currentState.nextCheck?.timeText ?? "none")",
    ]
    return (lines + (settings.apiVersion == 1 ? rules : [])).joined(separator: "\n")
  }
}

extension Exposure {
  fileprivate var line: String {
    let score =
      judgement.map { "\(Int($0.normalizedMinutes)) weighted minutes" } ?? "score \(riskScore)"
    return "Added: \(date.dayText), \(Int(durationSeconds / 60)) minutes, \(score)."
  }
}

extension Date {
  fileprivate var timeText: String { formatted(.iso8601) }
}

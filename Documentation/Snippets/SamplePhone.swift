// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// A simulated phone with its app's manager, for the snippets.
@MainActor
final class SamplePhone {
  let region: SimulatedRegion
  let device: Device
  let manager: ENManager

  /// A phone that is turned on unless `isEnabled` is false.
  init(
    apiVersion: Int = 1, user: (any ConsentPrompt)? = nil, isEnabled: Bool = true
  ) async throws {
    // Noon of 13 June 2020, UTC.
    region = try SimulatedRegion(startingAt: Date(timeIntervalSince1970: 1_592_049_600))
    device = try await .simulated(in: region, consent: user, apiVersion: apiVersion)
    Device.install(device)
    manager = ENManager()
    guard isEnabled else { return }
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
  }

  /// Spends twenty minutes near a user who is diagnosed two days later; returns the URLs of the key files.
  func meetDiagnosedUser() async throws -> [URL] {
    let other = try await Device.simulated(in: region, isEnabled: true)
    let onset = region.clock.now
    try await region.meet(device, other, minutes: 20)
    await region.pass(days: 2)
    return try await region.keyFiles(
      ofDiagnosed: other, transmissionRiskLevel: 5, onset: onset, variant: .type2)
  }

  /// Runs the snippet of `ENManager` and returns the summary.
  func summary(
    _ configuration: ENExposureConfiguration = .init()
  ) async throws -> ENExposureDetectionSummary {
    let files = try await meetDiagnosedUser()
    return try await withCheckedThrowingContinuation { done in
      manager.detectExposures(configuration: configuration, diagnosisKeyURLs: files) {
        found, error in
        done.resume(with: found.map(Result.success) ?? .failure(error ?? ENError(.unknown)))
      }
    }
  }

  /// Runs a detection of API version 2 and returns its windows.
  func windows() async throws -> [ENExposureWindow] {
    let summary = try await summary(.everyDayCounts)
    return try await withCheckedThrowingContinuation { done in
      manager.getExposureWindows(summary: summary) { found, error in
        done.resume(with: found.map(Result.success) ?? .failure(error ?? ENError(.unknown)))
      }
    }
  }
}

/// Waits until every pending handler was called.
@MainActor
func drained(_ manager: ENManager) async {
  await withCheckedContinuation { done in manager.dispatchQueue.async { done.resume() } }
}

extension ENExposureConfiguration {
  /// A configuration of API version 2 in which users are infectious on every day.
  static var everyDayCounts: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    var days: [NSNumber: NSNumber] = [:]
    for day in -14...14 { days[day as NSNumber] = 1 }
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = days
    return configuration
  }
}

/// A user who declines every request.
struct DecliningUser: ConsentPrompt {
  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { false }
}

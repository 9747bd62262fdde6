// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import RiskRules
import Testing

@testable import ExposureApp

@Suite("Distance bands of exposures") struct DistanceBandTests {
  private let scoring = RiskScoringParameters.protegoDefault

  @Test("The bands of version 1 follow the thresholds and add up to the rounded duration")
  func version1() {
    let bands = DistanceBand.bands(seconds: [100, 150, 60], total: 360, scoring: scoring)
    #expect(bands.map(\.maximumAttenuation) == [48, 58, nil])
    #expect(bands.map(\.seconds) == [100, 200, 60])
    // 7, 6 and 2 of 8 in the table of ProteGO Safe.
    #expect(bands.map(\.weightPercent) == [88, 75, 25])
  }

  @Test(
    "Durations that do not fit the thresholds or the duration give no bands",
    arguments: [[], [100, 200], [100, 200, 300, 400], [700, 700, 600]])
  func unusable(seconds: [Int]) {
    #expect(DistanceBand.bands(seconds: seconds, total: 600, scoring: scoring).isEmpty)
  }

  @Test("The bands of version 2 follow the weights of the policy and add up to the duration")
  func version2() {
    let scans: [RiskWindow.Scan] = [
      (0, 60), (62, 60), (63, 120), (72, 1), (73, 300), (255, 300), (50, -100),
    ].map { .init(minimumAttenuation: $0.0, seconds: $0.1) }
    let bands = WindowRiskPolicy.standard.bands(of: scans)
    #expect(
      bands == [
        DistanceBand(maximumAttenuation: 62, seconds: 120, weightPercent: 100),
        DistanceBand(maximumAttenuation: 72, seconds: 121, weightPercent: 50),
        DistanceBand(maximumAttenuation: nil, seconds: 600, weightPercent: 0),
      ])
  }

  @Test("A day of exposure windows is stored with its bands")
  func stored() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update {
      $0.windows = [.beside(minutes: 9), .beside(minutes: 8, decibels: 200)]
    }
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    _ = await app.check()
    let day = try #require(await app.exposures.first)
    #expect(day.bands.count > 1 && day.bands.last?.maximumAttenuation == nil)
    #expect(day.bands.map(\.seconds).reduce(0, +) == Int(day.durationSeconds))
    #expect(day.bands.last?.seconds == 480)
    #expect(try await phone.launch().exposures == [day])
  }

  @Test("An encounter of version 1 is stored with its bands")
  func storedEncounter() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update {
      $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)]
      $0.durations = [300, 400, 170]
    }
    phone.publish(0..<1)
    _ = await app.check()
    let exposure = try #require(await app.exposures.first)
    #expect(exposure.bands.map(\.seconds) == [300, 430, 170])
    #expect(try await phone.launch().exposures == [exposure])
  }
}

import Foundation
import TestSupport
import Testing

@testable import ExposureApp

/// Documentation/App.md 4.6, with the real framework in API version 2, from beacon to notice.
@Suite struct WindowRiskStoryTests {
  /// The configuration of the published cases, as `firebreak conformance cwa-risk` reads it.
  private struct Published: Decodable {
    let defaultRiskCalculationConfiguration: WindowRiskPolicy
  }

  /// Half an hour beside a stranger whose key is in the first file of the next day.
  private func afterAMeeting(
    _ policy: WindowRiskPolicy, attenuation: Int
  ) async throws -> (BeaconPhone, ExposureApp) {
    let phone = try BeaconPhone(policy)
    let app = try await phone.launch()
    let stranger = try phone.stranger()
    await phone.hear(stranger, minutes: 30, attenuation: attenuation)
    phone.app.clock.move(by: HandClock.day)
    try phone.publish([stranger])
    return (phone, app)
  }

  @Test("A beacon heard for half an hour is a high day, a sealed exposure and one notice")
  func beaconToNotice() async throws {
    let (phone, app) = try await afterAMeeting(.example, attenuation: 50)
    #expect(await app.check() == .checked(.high))
    #expect(phone.app.notices.risks == [.high])
    let exposure = try #require(await app.exposures.first)
    #expect(exposure.judgement == DayJudgement(level: .high, normalizedMinutes: 32))
    #expect(exposure.durationSeconds == 1_920)
    #expect(exposure.date == HandClock.noon.addingTimeInterval(-HandClock.day / 2))
    #expect(await app.analyzeChecks.map(\.matchedKeyCount) == [1])
    #expect(await app.cursor == TestApp.end(0))
  }

  @Test("What the person removed stays away, though the framework keeps the key and tells again")
  func removed() async throws {
    let (phone, app) = try await afterAMeeting(.example, attenuation: 50)
    #expect(await app.check() == .checked(.high))
    try await app.removeExposures()
    try phone.publish([phone.stranger(2)])
    #expect(await app.check() == .checked(.none))
    #expect(await app.analyzeChecks.map(\.matchedKeyCount) == [1, 1])
    #expect(await app.exposures.isEmpty)
    #expect(phone.app.notices.risks == [.high])
  }

  @Test(
    "The Corona-Warn-App's policy makes its levels of the framework's own windows",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absence)),
    arguments: [
      // 32 minutes x 1.4 (test, standard infectiousness) x 1, x 0.3 and x 0.
      (50, WindowRiskLevel?.some(.high), 44.8), (65, .low, 13.44), (80, nil, 0),
    ])
  func publishedPolicy(attenuation: Int, level: WindowRiskLevel?, minutes: Double) async throws {
    let file = SharedData.url("risk/cwa-ios/exposure-windows-risk-calculation.json")
    let published = try JSONDecoder().decode(Published.self, from: try Data(contentsOf: file))
    let (phone, app) = try await afterAMeeting(
      published.defaultRiskCalculationConfiguration, attenuation: attenuation)
    let expected = level.map { RiskLevel($0) } ?? RiskLevel.none
    #expect(await app.check() == .checked(expected))
    #expect(
      await app.exposures.map(\.judgement)
        == [DayJudgement(level: level, normalizedMinutes: minutes)])
    #expect(phone.app.notices.risks == (level == nil ? [] : [expected]))
  }
}

// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import RiskRules
import TestSupport
import Testing
import World

@testable import ExposureApp

@Suite("Checks with exposure windows") struct WindowRiskCheckTests {
  /// An app with a policy for windows that has read the index once.
  private func windowApp(
    _ windows: [RiskWindow] = []
  ) async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update { $0.windows = windows }
    return (phone, try await phone.launchedAfterFirstCheck())
  }

  @Test("A high day is stored as an exposure and shown once")
  func high() async throws {
    let (phone, app) = try await windowApp([.beside(minutes: 9), .beside(minutes: 8)])
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    let day = try #require(await app.exposures.first)
    #expect(await app.exposures.count == 1)
    #expect(day.judgement == DayRisk(level: .high, normalizedMinutes: 17))
    #expect(day.durationSeconds == 1_020 && day.riskScore == 0)
    #expect(day.day.start == TestApp.noon.addingTimeInterval(-1.5 * TestApp.day))
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.high))
    #expect(await app.exposures == [day])
    #expect(phone.notices.risks == [.high])
    #expect(try await phone.launch().exposures == [day])
    #expect(try await phone.launch().riskLevel == .high)
  }

  @Test("The framework gets the version 2 configuration and is not asked for exposure info")
  func configuration() async throws {
    let (phone, app) = try await windowApp()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.maps == [[0: 1]])
    #expect(phone.script.state.infoRequestCount == 0)
    #expect(await app.exposures.isEmpty)
  }

  @Test("Days are rated separately: low, high, and below every level without a notice")
  func days() async throws {
    let (phone, app) = try await windowApp([
      .beside(minutes: 4, daysAgo: 3), .beside(minutes: 6, daysAgo: 2),
    ])
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.low))
    #expect(await app.exposures.map(\.judgement?.level) == [.low, nil])
    #expect(phone.notices.risks == [.low])
    #expect(await app.checks.map(\.level) == [.low])
    let last = try #require(await app.checks.last)
    #expect(await app.riskLevel(of: last) == .low)
    phone.script.update { $0.windows.append(.beside(minutes: 20)) }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.high))
    #expect(await app.exposures.map(\.judgement?.level) == [.high, .low, nil])
    #expect(phone.notices.risks == [.low, .high])
  }

  @Test("An encounter that is withdrawn while the clock is wrong ends when the clock is right")
  func withdrawnByWrongClock() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let time = ManualClock(TestApp.noon)
    phone.network.states { time.now }
    let app = try await phone.launchedAfterFirstCheck()
    let index = Data(TestApp.name(0).utf8)
    for _ in 1...2 {
      phone.script.update { $0.windows = [.beside(minutes: 20)] }
      phone.network.script("/" + TestApp.name(0), .text("0123456789"))
      phone.network.script(
        "/index.txt", .response(200, index, tag: "one"), .response(304, tag: "one"))
      await app.detectAgain()
      #expect(await app.check() == .checked(.high))
      phone.clock.advance(by: 3 * 3_600)
      phone.script.update { $0.windows = [] }
      await app.detectAgain()
      #expect(await app.check() == .failed(.clockWrong))
      #expect(await app.riskLevel == .high)
      phone.clock.advance(by: -3 * 3_600)
      #expect(await app.check() == .checked(.none))
    }
  }

  @Test("A revoked diagnosis removes its day")
  func withdrawn() async throws {
    let (phone, app) = try await windowApp([.beside(minutes: 20)])
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.windows = [] }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.none))
    #expect(await app.exposures.isEmpty)
  }

  @Test(
    "If reading windows fails, cursor, files and exposures stay and the next run continues",
    arguments: [
      (ENError.Code.rateLimited, CheckFailure.windowsRateLimited), (.internal, .windowsFailed),
      (.badParameter, .windowsFailed), (.unsupported, .windowsFailed), (.notEnabled, .notEnabled),
    ])
  func failing(error: ENError.Code, failure: CheckFailure) async throws {
    let (phone, app) = try await windowApp([.beside(minutes: 20)])
    phone.script.update { $0.windowsError = error }
    phone.publish(0..<2)
    #expect(await app.check() == .failed(failure))
    #expect(await app.lastFailure == failure)
    #expect(await app.cursor == 0)
    #expect(phone.keyFiles == [TestApp.name(0), TestApp.name(1)])
    #expect(await app.exposures.isEmpty && phone.notices.risks.isEmpty)
    phone.script.update { $0.windowsError = nil }
    #expect(await app.check() == .checked(.high))
    #expect(await app.cursor == TestApp.end(1))
    #expect(phone.script.state.detections.count == 2)
  }

  @Test("Files analysed alone find the same days again, and nothing counts twice")
  func alone() async throws {
    let (phone, app) = try await windowApp([.beside(minutes: 8)])
    phone.script.update {
      $0.refusedFiles = [TestApp.name(1)]
      $0.matchedKeyCount = 1
    }
    phone.publish(0..<3)
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.exposures.map(\.judgement?.normalizedMinutes) == [8])
    #expect(await app.riskLevel == .low)
    #expect(await app.checks.map(\.matchedKeyCount) == [1])
  }

  @Test("Encounters of API version 1 stay next to days of version 2")
  func fromBefore() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update {
      $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)]
      $0.windows = [.beside(minutes: 6)]
    }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.windowRisk = try .example()
    let updated = try phone.launch()
    phone.publish(0..<2)
    #expect(await updated.check() == .checked(.high))
    #expect(await updated.exposures.map(\.riskScore) == [3_136, 0])
    #expect(await updated.exposures.map(\.judgement?.level) == [nil, .low])
    let stored = Data(
      #"{"id":"\#(UUID())","date":0,"durationSeconds":1,"riskScore":2,"bands":[]}"#.utf8)
    #expect(try JSONDecoder().decode(Exposure.self, from: stored).judgement == nil)
  }

  @Test("An invalid policy or configuration is rejected with the name of the field")
  func refused() throws {
    var policy = WindowRiskPolicy.example
    policy.minutesAtAttenuationWeights[0].weight = 101
    let fault = #expect(throws: WindowRiskError.self) { try WindowRiskAssessment.example(policy) }
    #expect(fault?.description.hasPrefix("minutesAtAttenuationWeights[0].weight ") == true)
    for map in [nil, [:]] as [[NSNumber: NSNumber]?] {
      let fault = #expect(throws: WindowRiskError.self) {
        try WindowRiskAssessment(policy: .example) {
          let configuration = ENExposureConfiguration()
          configuration.infectiousnessForDaysSinceOnsetOfSymptoms = map
          return configuration
        }
      }
      #expect(
        fault?.message.hasPrefix("infectiousnessForDaysSinceOnsetOfSymptoms ") == true)
    }
  }
}

extension WindowRiskPolicy {
  /// Minutes below 60 dB have weight 1; 5 are a low, 15 a high risk. Only a test at standard
  /// infectiousness counts.
  static var example: WindowRiskPolicy {
    let levels: [LevelMapping] = [
      .init(
        normalizedTimeRange: PolicyRange(min: 5, max: 15, maxExclusive: true), riskLevel: .low),
      .init(normalizedTimeRange: PolicyRange(min: 15, max: 9_999), riskLevel: .high),
    ]
    return WindowRiskPolicy(
      minutesAtAttenuationWeights: [
        .init(attenuationRange: PolicyRange(min: 0, max: 60, maxExclusive: true), weight: 1)
      ],
      normalizedTimePerEWToRiskLevelMapping: levels,
      normalizedTimePerDayToRiskLevelMapping: levels,
      trlEncoding: TransmissionRiskEncoding(
        infectiousnessOffsetStandard: 1, infectiousnessOffsetHigh: 2,
        reportTypeOffsetRecursive: 0, reportTypeOffsetSelfReport: 2,
        reportTypeOffsetConfirmedClinicalDiagnosis: 4, reportTypeOffsetConfirmedTest: 6),
      transmissionRiskValueMapping: [.init(transmissionRiskLevel: 7, transmissionRiskValue: 1)])
  }
}

extension WindowRiskAssessment {
  /// Uses `policy`; users are infectious on the day of the onset of symptoms.
  static func example(_ policy: WindowRiskPolicy = .example) throws -> WindowRiskAssessment {
    try WindowRiskAssessment(policy: policy) {
      let configuration = ENExposureConfiguration()
      configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [0: 1]
      return configuration
    }
  }
}

extension RiskWindow {
  /// Minutes near a user with a positive test, `daysAgo` days before 2020-10-15.
  static func beside(minutes: Int, decibels: UInt8 = 50, daysAgo: Double = 1) -> RiskWindow {
    RiskWindow(
      date: TestApp.noon.addingTimeInterval(-TestApp.day * (daysAgo + 0.5)),
      reportType: .confirmedTest, infectiousness: .standard, calibrationConfidence: .high,
      scans: [.init(minimumAttenuation: decibels, seconds: minutes * 60)])
  }
}

extension ExposureApp {
  /// Detects in the next check also without new files, as after a withdrawal.
  fileprivate func detectAgain() {
    context.store.updateIfPossible { $0.mustDetectAgain = true }
  }
}

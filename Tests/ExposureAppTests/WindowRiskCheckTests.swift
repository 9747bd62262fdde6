import ExposureNotification
import Foundation
import Testing

@testable import ExposureApp

/// Documentation/App.md 4.6.
@Suite struct WindowRiskCheckTests {
  /// An app that judges windows and has looked at the index once.
  private func judging(
    _ windows: [RiskWindow] = []
  ) async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update { $0.windows = windows }
    return (phone, try await phone.launchedAfterFirstCheck())
  }

  @Test("A day that the policy calls high is sealed as an exposure and told once")
  func high() async throws {
    let (phone, app) = try await judging([.beside(minutes: 9), .beside(minutes: 8)])
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    let day = try #require(await app.exposures.first)
    #expect(await app.exposures.count == 1)
    #expect(day.judgement == DayJudgement(level: .high, normalizedMinutes: 17))
    #expect(day.durationSeconds == 1_020 && day.riskScore == 0)
    #expect(day.date == HandClock.noon.addingTimeInterval(-1.5 * HandClock.day))
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.high))
    #expect(await app.exposures == [day])
    #expect(phone.notices.risks == [.high])
    #expect(try await phone.launch().exposures == [day])
    #expect(try await phone.launch().riskLevel == .high)
  }

  @Test("The framework is asked with the app's version 2 configuration, and for no infos")
  func configuration() async throws {
    let (phone, app) = try await judging()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.maps == [[0: 1]])
    #expect(phone.script.state.timesInfosWereAsked == 0)
    #expect(await app.exposures.isEmpty)
  }

  @Test("Each day by itself: low and high days, and one below every level, which raises nothing")
  func days() async throws {
    let (phone, app) = try await judging([
      .beside(minutes: 4, daysAgo: 3), .beside(minutes: 6, daysAgo: 2),
    ])
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.low))
    #expect(await app.exposures.map(\.judgement?.level) == [.low, nil])
    #expect(phone.notices.risks == [.low])
    #expect(await app.riskChecks.map(\.level) == [.low])
    let last = try #require(await app.riskChecks.last)
    #expect(await app.riskLevel(of: last) == .low)
    phone.script.update { $0.windows.append(.beside(minutes: 20)) }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.high))
    #expect(await app.exposures.map(\.judgement?.level) == [.high, .low, nil])
    #expect(phone.notices.risks == [.low, .high])
  }

  @Test("A diagnosis that is withdrawn takes its day back")
  func withdrawn() async throws {
    let (phone, app) = try await judging([.beside(minutes: 20)])
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.windows = [] }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.none))
    #expect(await app.exposures.isEmpty)
  }

  @Test(
    "Windows that do not come keep the cursor, the files and what was known; the next run goes on",
    arguments: [
      (ENError.Code.rateLimited, CheckFailure.windowsRateLimited), (.internal, .windowsFailed),
      (.badParameter, .windowsFailed), (.unsupported, .windowsFailed), (.notEnabled, .notEnabled),
    ])
  func failing(error: ENError.Code, failure: CheckFailure) async throws {
    let (phone, app) = try await judging([.beside(minutes: 20)])
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

  @Test("Both refusals of windows are told with words of their own")
  func words() {
    let words = Set(CheckFailure.allCases.map(\.description))
    #expect(words.count == CheckFailure.allCases.count)
    #expect(CheckFailure.windowsRateLimited.description.contains("tomorrow"))
    #expect(CheckFailure.windowsFailed.description.contains("try again"))
  }

  @Test("Files that are tried alone find the same days again; nothing counts twice")
  func alone() async throws {
    let (phone, app) = try await judging([.beside(minutes: 8)])
    phone.script.update {
      $0.refusedFiles = [TestApp.name(1)]
      $0.matchedKeyCount = 1
    }
    phone.publish(0..<3)
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.exposures.map(\.judgement?.normalizedMinutes) == [8])
    #expect(await app.riskLevel == .low)
    #expect(await app.analyzeChecks.map(\.matchedKeyCount) == [1])
  }

  @Test("Encounters from before the app judged windows stay beside the days")
  func fromBefore() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update {
      $0.found = [(date: HandClock.noon, seconds: 900, score: 3_136)]
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
    let stored = Data(#"{"id":"\#(UUID())","date":0,"durationSeconds":1,"riskScore":2}"#.utf8)
    #expect(try JSONDecoder().decode(Exposure.self, from: stored).judgement == nil)
  }

  @Test("A policy or configuration that makes no sense is refused, beginning with the field")
  func refused() throws {
    var policy = WindowRiskPolicy.example
    policy.minutesAtAttenuationWeights[0].weight = 101
    let fault = #expect(throws: WindowRiskFault.self) { try WindowRiskAssessment.example(policy) }
    #expect(fault?.description.hasPrefix("minutesAtAttenuationWeights[0].weight ") == true)
    for map in [nil, [:]] as [[NSNumber: NSNumber]?] {
      let fault = #expect(throws: WindowRiskFault.self) {
        try WindowRiskAssessment(policy: .example) {
          let configuration = ENExposureConfiguration()
          configuration.infectiousnessForDaysSinceOnsetOfSymptoms = map
          return configuration
        }
      }
      #expect(
        fault?.sentence.hasPrefix("infectiousnessForDaysSinceOnsetOfSymptoms ") == true)
    }
  }
}

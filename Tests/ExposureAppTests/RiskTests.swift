// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import RiskRules
import TestSupport
import Testing
import World

@testable import ExposureApp

@Suite("Risk levels") struct RiskTests {
  @Test("The ranges of the risk table cover every score exactly once")
  func tableIsWhole() {
    let rules = RiskRule.table(for: .protegoDefault)
    #expect(rules.map(\.level) == [.none, .low, .medium, .high])
    #expect(rules.first?.scores.lowerBound == 0)
    #expect(rules.last?.scores.upperBound == RiskRule.scoreMax)
    for (lower, upper) in zip(rules, rules.dropFirst()) {
      #expect(lower.scores.upperBound + 1 == upper.scores.lowerBound)
    }
    #expect(rules.allSatisfy { $0.message.hasSuffix(".") })
  }

  @Test(
    "Each threshold of the configuration starts a new level",
    arguments: [
      (-1, RiskLevel.none), (0, .none), (1, .low), (1_499, .low), (1_500, .medium),
      (2_999, .medium), (3_000, .high), (4_096, .high), (5_000, .high),
    ])
  func steps(score: Int, level: RiskLevel) {
    #expect(RiskAssessment(thresholds: .protegoDefault).level(of: score) == level)
  }

  @Test("The level is that of the worst exposure of fourteen days, not a sum")
  func worst() {
    let now = TestApp.noon
    func exposure(_ score: Int, daysAgo: Int) -> Exposure {
      Exposure(
        id: UUID(), day: UTCDay(now.unixDay - daysAgo), durationSeconds: 600, riskScore: score)
    }
    let oldest = now.addingTimeInterval(-14 * TestApp.day)
    let assessment = RiskAssessment(thresholds: .protegoDefault)
    #expect(assessment.level(of: [], since: oldest) == .none)
    let low = exposure(1_000, daysAgo: 1)
    #expect(assessment.level(of: [low, low, low, low], since: oldest) == .low)
    #expect(assessment.level(of: [low, exposure(3_072, daysAgo: 13)], since: oldest) == .high)
    #expect(assessment.level(of: [low, exposure(3_072, daysAgo: 14)], since: oldest) == .low)
  }

  @Test("Two equal encounters on one day count twice, also after a repeated analysis")
  func alike() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let day = phone.clock.now.addingTimeInterval(-TestApp.day)
    let encounter = (date: day, seconds: 1_800.0, score: 3_584.0)
    phone.script.update { $0.found = [encounter, encounter] }
    phone.publish(0..<1)
    _ = await app.check()
    #expect(await app.exposures.count == 2)
    try await app.resetDownloads()
    _ = await app.check()
    #expect(await app.checks.count == 2)
    #expect(await app.exposures.count == 2)
  }

  @Test("An encounter is stored with its duration, day and full-range score")
  func seconds() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let day = phone.clock.now.addingTimeInterval(-TestApp.day)
    phone.script.update { $0.found = [(date: day, seconds: 1_200, score: 3_584)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    let exposures = await app.exposures
    #expect(exposures.map(\.durationSeconds) == [1_200])
    #expect(exposures.map(\.riskScore) == [3_584])
    #expect(exposures.map(\.day) == [UTCDay(of: day)])
  }

  @Test("Reading the level sends no request and runs no detection")
  func fromStore() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let before = phone.network.requests.count
    for _ in 0..<5 { #expect(await app.riskLevel == .none) }
    #expect(phone.network.requests.count == before)
    #expect(phone.script.state.detections.isEmpty)
  }

  @Test("Keys of several checks on one day add up, and daily counts expire after a week")
  func history() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    for count in 1...2 {
      phone.publish(0..<count)
      #expect(await app.check() == .checked(.none))
    }
    #expect(await app.keysCount(ofDays: 1) == 20)
    phone.clock.advance(by: TestApp.day)
    _ = await app.check()
    #expect(await app.keysCount(ofDays: 1) == 0)
    for days in [7, 8, .max] { #expect(await app.keysCount(ofDays: days) == 20) }
    for days in [0, -1, .min] { #expect(await app.keysCount(ofDays: days) == 0) }
    try await phone.pass(6 * TestApp.day, in: app)
    _ = await app.check()
    #expect(await app.keysCount(ofDays: 7) == 0)
    #expect(await app.totalKeysCount == 20)
    #expect(await app.store.state.history.dayChecks.count <= 7)
    #expect(await app.checks.map(\.keysCount) == [10, 10])
  }

  @Test("Analysing a file again adds no encounter twice; an equal one of another file counts")
  func noDoubles() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 600, score: 2_000)] }
    phone.publish(0..<1)
    for _ in 1...2 {
      _ = await app.check()
      #expect(await app.exposures.count == 1)
      try await app.resetDownloads()
    }
    #expect(await app.checks.count == 2)
    _ = await app.check()
    // Two people were met for ten minutes at the same distance on one day.
    phone.publish(0..<2)
    _ = await app.check()
    #expect(await app.exposures.count == 2)
  }
}

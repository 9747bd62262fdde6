// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import RiskRules
import Testing

@testable import ExposureApp

@Suite("Rows of exposures and checks") struct RowTests {
  /// A phone with a check that found encounters with these scores.
  private func phone(scores: [Double]) async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update {
      $0.found = scores.map { (date: TestApp.noon, seconds: 600, score: $0) }
    }
    phone.publish(0..<1)
    _ = await app.check()
    return (phone, app)
  }

  @Test("A check has an ID of its own, which survives a restart")
  func ids() async throws {
    let (phone, app) = try await phone(scores: [1_000])
    phone.publish(0..<2)
    _ = await app.check()
    let ids = await app.checks.map(\.id)
    #expect(ids.count == 2 && Set(ids).count == 2)
    #expect(try await phone.launch().checks.map(\.id) == ids)
  }

  @Test("A check is removed by its ID, and the counts of keys stay")
  func checks() async throws {
    let (phone, app) = try await phone(scores: [1_000])
    phone.publish(0..<2)
    _ = await app.check()
    let ids = await app.checks.map(\.id)
    let counts = [await app.keysCount(ofDays: 1), await app.totalKeysCount]
    try await app.removeChecks(ids: [ids[0], UUID()])
    #expect(await app.checks.map(\.id) == [ids[1]])
    let after = [await app.keysCount(ofDays: 1), await app.totalKeysCount]
    #expect(after == counts && counts.contains { $0 > 0 })
    #expect(try await phone.launch().checks.count == 1)
  }

  @Test("The two lists of an earlier version are read as one")
  func earlierLists() throws {
    let id = UUID()
    let stored = """
      {"analyzeChecks":[{"id":"\(id)","date":10,"matchedKeyCount":1,"keysCount":7}],
      "riskChecks":[{"id":"\(id)","date":10,"matchedKeyCount":1,"riskScore":900,"level":2}],
      "dayChecks":{"19000":7},"totalKeysCount":7,"lastCheck":10}
      """
    let history = try JSONDecoder().decode(CheckHistory.self, from: Data(stored.utf8))
    let check = try #require(history.checks.first)
    #expect(check.id == id && check.keysCount == 7 && check.matchedKeyCount == 1)
    #expect(check.riskScore == 900 && check.level == .high)
    #expect(history.dayChecks == [19_000: 7] && history.lastCheck == check.date)
    let again = try JSONDecoder().decode(
      CheckHistory.self, from: try JSONEncoder().encode(history))
    #expect(again == history)
  }

  @Test("An exposure is removed by its ID, and the level of the others applies")
  func exposures() async throws {
    let (phone, app) = try await phone(scores: [3_500, 1_000])
    #expect(await app.riskLevel == .high)
    let worst = try #require(await app.exposures.max { $0.riskScore < $1.riskScore })
    try await app.removeExposures(ids: [UUID()])
    #expect(await app.exposures.count == 2)
    try await app.removeExposures(ids: [worst.id])
    #expect(await app.riskLevel == .low)
    #expect(phone.notices.removed.isEmpty)
    let rest = await app.exposures
    #expect(try await phone.launch().exposures == rest)
    try await app.removeExposures(ids: Set(rest.map(\.id)))
    #expect(await app.riskLevel == .none)
    #expect(phone.notices.removed == [.risk])
    _ = await app.check()
    #expect(await app.exposures.isEmpty)
  }

  @Test("A removed day of exposure windows does not return, and the other days stay")
  func days() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update { $0.windows = [.beside(minutes: 20), .beside(minutes: 6, daysAgo: 2)] }
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    let day = try #require(await app.exposures.first)
    try await app.removeExposures(ids: [day.id])
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.low))
    #expect(await app.exposures.count == 1)
  }
}

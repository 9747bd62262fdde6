// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Populations
import Simulation
import TestSupport
import Testing

@Suite("A population with real phones") struct PopulationRunTests {
  private static let scenario: Scenario = {
    var scenario = Scenario()
    scenario.days = 9
    scenario.contacts = .generated(people: 24)
    scenario.adoption = [1]
    scenario.firstCases = 6
    scenario.disease.reproductionNumber = 4
    scenario.disease.symptomaticShare = 1
    scenario.disease.incubationDays = 2
    scenario.disease.incubationDeviation = 0.5
    scenario.behaviour.testsAfterSymptoms = 1
    scenario.behaviour.testDays = 1
    scenario.behaviour.sensitivity = 1
    scenario.behaviour.uploads = 1
    scenario.behaviour.otherSymptoms = 0
    scenario.app.minimumKeys = 50
    return scenario
  }()

  private func run(seed: UInt64, threads: Int) async throws -> PopulationResult {
    let folder = try TemporaryFolder()
    return try await PopulationRun(
      Self.scenario, contacts: GeneratedContacts(people: 24, seed: seed), seed: seed,
      threads: threads, folder: folder.url,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ).run()
  }

  @Test(
    "People who were near those who uploaded are alerted, and the result does not depend on threads"
  )
  func alerts() async throws {
    let result = try await run(seed: 2, threads: 1)
    let run = try #require(result.runs.first)
    #expect(run.phones == 24 && run.uploads > 0 && run.failedChecks == 0)
    #expect(run.checks >= 24 * 9 * 5)
    #expect(run.trueAlerts > 0 && run.trueAlerts + run.falseAlerts == run.notified)
    #expect(result.without.uploads == 0 && result.without.notified == 0)
    for event in run.events {
      if case .uploadFailed(let reason) = event.kind {
        Issue.record("An upload failed: \(reason)")
      }
    }
    let again = try await self.run(seed: 2, threads: 3)
    #expect(again.eventsCSV == result.eventsCSV)
    #expect(PopulationPage(again).html == PopulationPage(result).html)
  }
}

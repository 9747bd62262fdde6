// SPDX-License-Identifier: Apache-2.0
import Foundation
import Populations
import Testing

@Suite("Reports of populations") struct PopulationPageTests {
  private func page(_ change: (inout Scenario) -> Void) -> String {
    var scenario = Scenario()
    change(&scenario)
    let events = [RunEvent(second: 0, person: 0, kind: .infected(by: nil))]
    let without = RunResult(
      adoption: 0, phones: 0, events: events, infected: 1, reproductionNumber: nil)
    let run = RunResult(
      adoption: 0.6, phones: 6, events: events, infected: 1, reproductionNumber: nil)
    return PopulationPage(
      PopulationResult(
        scenario: scenario, seed: 1, population: Population(count: 10), without: without,
        runs: [run])
    ).html
  }

  @Test("The page states the first day and the source of the contacts")
  func source() {
    let generated = page { $0.start = 1_773_014_400 }
    #expect(generated.contains("The first day is 2026-03-09. The contacts are generated."))
    let recorded = page {
      $0.contacts = .recorded(file: "rooms/a<b.csv", secondsPerLine: 20, metres: 1)
    }
    #expect(recorded.contains("The contacts are those of the recording a&lt;b.csv."))
  }

  @Test("The days of a chart are named, and those of a single day form a line")
  func days() {
    let month = page { $0.days = 28 }
    #expect(month.contains("<span>day 1</span><span>day 28</span>"))
    let day = page { $0.days = 1 }
    #expect(day.contains("<span>day 1</span><span></span>"))
    #expect(day.contains("class=\"infections\" points=\"0.0,0.0 300.0,0.0\""))
  }

  @Test("The end of the run belongs to its last day, in the events as in the charts")
  func lastDay() {
    var scenario = Scenario()
    scenario.days = 2
    let events = [86_399, 86_400, 172_800].map {
      RunEvent(second: $0, person: 0, kind: .notified(.trueAlert))
    }
    let run = RunResult(
      adoption: 0, phones: 0, events: events, infected: 0, reproductionNumber: nil)
    let result = PopulationResult(
      scenario: scenario, seed: 1, population: Population(count: 1), without: run, runs: [])
    let rows = result.eventsCSV.split(separator: "\n").dropFirst().map { $0.split(separator: ",") }
    #expect(rows.map { $0[2] } == ["0", "1", "1"])
    #expect(PopulationSummary(result).without.alertsByDay == [1, 2])
    let page = PopulationPage(result).html
    #expect(page.contains("<p>No run has the app.</p>") && !page.contains("Alerted</th>"))
    #expect(page.contains("The run has no app.") && !page.contains("In the others"))
  }
}

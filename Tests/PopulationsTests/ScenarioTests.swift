// SPDX-License-Identifier: Apache-2.0
import Foundation
import Populations
import Testing

@Suite("Scenarios in JSON") struct ScenarioTests {
  private func scenario(_ json: String) throws -> Scenario { try Scenario(json: Data(json.utf8)) }

  private func error(_ json: String) -> ScenarioError? {
    #expect(throws: ScenarioError.self) { try scenario(json) }
  }

  @Test("An empty object is the default scenario")
  func defaults() throws {
    #expect(try scenario("{}") == Scenario())
  }

  @Test("All fields are read")
  func fields() throws {
    let read = try scenario(
      """
      {"name": "Office", "start": "2026-03-09", "days": 40, "contacts": {"people": 300},
       "adoption": [0.6, 0], "firstCases": 3, "disease": {"reproductionNumber": 3.5},
       "behaviour": {"uploads": 0.5}, "radio": {"pairDecibels": 0},
       "app": {"exportHours": 4, "minimumKeys": 0, "receptionsPerScan": 1},
       "closeContact": {"metres": 1.5, "minutes": 10}}
      """)
    #expect(read.name == "Office" && read.start == 1_773_014_400 && read.days == 40)
    #expect(read.contacts == .generated(people: 300) && read.firstCases == 3)
    #expect(read.adoption == [0, 0.6])
    #expect(read.disease.reproductionNumber == 3.5 && read.behaviour.uploads == 0.5)
    #expect(read.radio.pairDecibels == 0 && read.radio.oneMetreDecibels == 54.5)
    #expect(read.app.exportHours == 4 && read.app.receptionsPerScan == 1)
    #expect(read.closeContact.metres == 1.5 && read.closeContact.minutes == 10)
    let recorded = try scenario(#"{"contacts": {"file": "office.csv", "secondsPerLine": 60}}"#)
    #expect(
      recorded.contacts == .recorded(file: "office.csv", secondsPerLine: 60, metres: 1))
  }

  @Test(
    "An error names the path and what to write",
    arguments: [
      (#"{"days": 0}"#, "days", "needs a whole number from 1 to 366"),
      (#"{"days": 1.5}"#, "days", "needs a whole number from 1 to 366"),
      (#"{"disease": {"reproductionNumber": 21}}"#, "disease.reproductionNumber", "from 0 to 20"),
      (#"{"adoption": [0.1, 1.1]}"#, "adoption[1]", "needs a number from 0 to 1"),
      (#"{"adoption": [0.1, 0.1]}"#, "adoption", "different shares"),
      (#"{"adoption": []}"#, "adoption", "different shares"),
      (#"{"start": "2026-02-31"}"#, "start", "needs a date"),
      (#"{"day": 3}"#, "day", "is not a field: use name, start"),
      (#"{"contacts": {}}"#, "contacts.people", "is missing"),
      (#"{"contacts": {"people": 1}}"#, "contacts.people", "from 2 to 100000"),
      (#"{"contacts": {"people": 2, "metres": 1}}"#, "contacts.metres", "is not a field"),
      (#"{"app": {"exportHours": 5}}"#, "app.exportHours", "needs 4, 8, 12 or 24"),
      (#"{"app": {"exportHours": 6}}"#, "app.exportHours", "needs 4, 8, 12 or 24"),
      (#"{"start": "2100-01-01"}"#, "start", "needs a date from 2020-01-01 to 2099-12-31"),
      (#"{"start": "2019-12-31"}"#, "start", "needs a date from 2020-01-01 to 2099-12-31"),
      (#"{"behaviour": 1}"#, "behaviour", "needs a JSON object"),
      (#"{"name": ""}"#, "name", "needs 1 to 100 characters"),
      (#"[]"#, "", "needs one JSON object"),
      (#"{"days": 1, "days": 2}"#, "", "duplicate field"),
    ])
  func paths(json: String, path: String, need: String) throws {
    let found = try #require(error(json))
    #expect(found.path == path)
    #expect(found.description.contains(need), "\(found)")
  }

  @Test("The limits are allowed")
  func limits() throws {
    let least = try scenario(#"{"days": 1, "contacts": {"people": 2}, "adoption": [0, 1]}"#)
    #expect(least.days == 1 && least.contacts == .generated(people: 2))
    let most = try scenario(#"{"days": 366, "contacts": {"people": 100000}}"#)
    #expect(most.days == 366 && most.contacts == .generated(people: 100_000))
    #expect(try scenario(#"{"start": "2020-01-01"}"#).start == 1_577_836_800)
    #expect(try scenario(#"{"start": "2099-12-31"}"#).start == 4_102_358_400)
    #expect(error(#"{"contacts": {"people": 100001}}"#)?.path == "contacts.people")
    #expect(error(#"{"days": 367}"#)?.path == "days")
  }
}

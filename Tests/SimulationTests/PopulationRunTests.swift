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

  private func run(
    _ scenario: Scenario = Self.scenario, contacts: (any ContactSource)? = nil, seed: UInt64,
    threads: Int = 2
  ) async throws -> PopulationResult {
    let folder = try TemporaryFolder()
    return try await PopulationRun(
      scenario, contacts: contacts ?? GeneratedContacts(people: 24, seed: seed), seed: seed,
      threads: threads, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ).run(in: folder.url)
  }

  @Test("The result does not depend on the number of threads, and no check and no upload fails")
  func threads() async throws {
    let result = try await run(seed: 2, threads: 1)
    let run = try #require(result.runs.first)
    #expect(run.phones == 24 && run.uploads > 0 && run.notified > 0 && run.failedChecks == 0)
    #expect(run.checks >= 24 * 9 * 5)
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

  /// Each person meets the next one, at 1 m for an hour, and the one after that for five minutes, every day.
  private struct Row: ContactSource {
    static let people = 8
    let population = Population(count: people)

    func encounters(onDay day: Int) -> [Encounter] {
      (0..<Self.people).flatMap { one in
        [
          Encounter(
            one, (one + 1) % Self.people, from: 36_000, to: 39_600, metres: 1, at: .leisure),
          Encounter(
            one, (one + 2) % Self.people, from: 50_000, to: 50_300, metres: 1, at: .leisure),
        ]
      }
    }
  }

  /// One infected person, who infects no other.
  private static func oneCase(_ change: (inout Scenario) -> Void = { _ in }) -> Scenario {
    var scenario = Self.scenario
    scenario.firstCases = 1
    scenario.disease.reproductionNumber = 0
    scenario.radio.pairDecibels = 0
    change(&scenario)
    return scenario
  }

  /// The people of the events for which `isCounted` returns true, relative to the infected person.
  private func people(
    _ result: PopulationResult, _ isCounted: (RunEvent.Kind) -> Bool
  ) throws -> Set<Int> {
    let run = try #require(result.runs.first)
    let source = try #require(run.events.first { $0.kind == .infected(by: nil) }?.person)
    #expect(run.infected == 1 && run.uploads == 1)
    return Set(
      run.events.filter { isCounted($0.kind) }.map {
        ($0.person - source + Row.people) % Row.people
      })
  }

  @Test("The two people who were near the infected one are alerted rightly, and nobody else")
  func neighbours() async throws {
    let result = try await run(Self.oneCase(), contacts: Row(), seed: 5)
    #expect(try people(result) { $0 == .notified(.trueAlert) } == [1, Row.people - 1])
    #expect(try people(result) { $0 == .notified(.falseAlert) } == [])
    #expect(try people(result) { $0 == .missed } == [])
  }

  @Test("Alerts after contacts that are too short for the definition are false")
  func falseAlerts() async throws {
    let scenario = Self.oneCase { $0.closeContact.minutes = 61 }
    let result = try await run(scenario, contacts: Row(), seed: 5)
    #expect(try people(result) { $0 == .notified(.falseAlert) } == [1, Row.people - 1])
    #expect(try people(result) { $0 == .notified(.trueAlert) || $0 == .missed } == [])
  }

  @Test("Phones that receive nothing alert nobody, and both close contacts are missed")
  func missedAlerts() async throws {
    let scenario = Self.oneCase { $0.radio.floorDecibels = -20 }
    let result = try await run(scenario, contacts: Row(), seed: 5)
    #expect(try people(result) { $0 == .missed } == [1, Row.people - 1])
    #expect(result.runs.first?.notified == 0)
    #expect(result.runs.first?.receivingScans == 0)
  }

  @Test("A run on the last day that a scenario may start has no failure")
  func latestStart() async throws {
    let scenario = Self.oneCase { $0.start = ScenarioLimit.start.upperBound }
    let result = try await run(scenario, contacts: Row(), seed: 5)
    #expect(result.runs.first?.failedChecks == 0)
    #expect(try people(result) { $0 == .notified(.trueAlert) } == [1, Row.people - 1])
  }

  @Test("Checks of a server without any key file are counted, and not as failures")
  func withoutKeyFiles() async throws {
    let scenario = Self.oneCase {
      $0.days = 16
      $0.behaviour.uploads = 0
      $0.app.minimumKeys = 0
    }
    let run = try #require(try await run(scenario, contacts: Row(), seed: 5).runs.first)
    #expect(run.failedChecks == 0)
    #expect(run.checksWithoutKeyFiles > 0 && run.checksWithoutKeyFiles < run.checks)
    #expect(run.notified == 0)
  }

  @Test("People of a recording have their names in the events")
  func names() async throws {
    let recording = try RecordedContacts(
      content: Data("20,\"Ada\",Lee; B\n40,Ben,\"Ada\"\n".utf8), step: 20, metres: 1)
    let scenario = Self.oneCase { $0.days = 1 }
    let events = try await run(scenario, contacts: recording, seed: 1).eventsCSV
    let people = Set(
      events.split(separator: "\n").dropFirst().map { $0.split(separator: ",")[3] })
    #expect(people.isSubset(of: ["\"\"\"Ada\"\"\"", "Lee; B", "Ben"]) && !people.isEmpty)
  }
}

@Suite("Folder of a population") struct PopulationFolderTests {
  private let memory: TemporaryFolder
  private let disk: TemporaryFolder

  init() throws {
    (memory, disk) = (try TemporaryFolder(), try TemporaryFolder())
  }

  private func folder(
    phones: Int = 1, free: @escaping (URL) -> Int? = { _ in .max }
  ) throws -> PopulationFolder {
    try PopulationFolder(phones: phones, in: [memory.url, disk.url], freeBytes: free)
  }

  private func names(in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test("It is in the first folder with enough space for all phones, and only for the user")
  func space() throws {
    let limit = PopulationFolder.serverBytes + 10 * PopulationFolder.phoneBytes
    let memory = memory.url
    let free = { (folder: URL) in folder == memory ? limit : limit + PopulationFolder.phoneBytes }
    let first = try folder(phones: 10, free: free)
    #expect(first.url.deletingLastPathComponent().path == memory.path)
    let facts = try FileManager.default.attributesOfItem(atPath: first.url.path)
    #expect(facts[.posixPermissions] as? NSNumber == 0o700)
    let second = try folder(phones: 11, free: free)
    #expect(second.url.deletingLastPathComponent().path == disk.url.path)
    let error = #expect(throws: PopulationFolderError.self) { try folder(phones: 12, free: free) }
    #expect(error?.description.contains("need 76 MiB, but \(memory.path) has 74 MiB") == true)
  }

  @Test("A folder that cannot be written to has no space, others have some")
  func unusable() throws {
    #expect(PopulationFolder.freeBytes(in: memory.path("none")) == nil)
    #expect(try #require(PopulationFolder.freeBytes(in: memory.url)) > 0)
    let other = try folder { [memory] in $0 == memory.url ? nil : .max }
    #expect(other.url.deletingLastPathComponent().path == disk.url.path)
  }

  @Test("The next run removes the folders of runs that have ended, and not those of living ones")
  func leftovers() throws {
    let living = try folder()
    var killed: PopulationFolder? = try folder()
    let left = try #require(killed?.url)
    try Data("of a phone".utf8).write(to: left.appendingPathComponent("keys"))
    // The kernel releases the lock of a killed process as well.
    killed = nil
    let unrelated = memory.path("firebreak-other")
    try FileManager.default.createDirectory(at: unrelated, withIntermediateDirectories: false)
    let next = try folder()
    let expected = [living.url, next.url, unrelated].map(\.lastPathComponent).sorted()
    let found = (try names(in: memory), try names(in: disk))
    withExtendedLifetime((living, next)) {
      #expect(found.0 == expected && found.1 == [])
    }
  }
}

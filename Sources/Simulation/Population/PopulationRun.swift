// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Logging
import Populations
import World

/// A scenario, run once without the app and once for each share of users with real phones and servers.
public struct PopulationRun: Sendable {
  private let scenario: Scenario
  private let contacts: any ContactSource
  private let seed: UInt64
  private let threads: Int
  private let logger: Logger
  /// The result of `Epidemic.calibratedRate`.
  private let rate: Double

  /// Creates a run. The number of threads that compute phones does not change any result.
  ///
  /// - Throws: `ScenarioError` if the contacts cannot have the reproduction number of the scenario.
  public init(
    _ scenario: Scenario, contacts: any ContactSource, seed: UInt64, threads: Int, logger: Logger
  ) throws(ScenarioError) {
    self.scenario = scenario
    self.contacts = contacts
    self.seed = seed
    self.threads = threads
    self.logger = logger
    do throws(UnreachableReproductionNumber) {
      rate = try Epidemic.calibratedRate(of: contacts, disease: scenario.disease)
    } catch {
      throw ScenarioError(error)
    }
  }

  /// The largest number of phones at a time.
  public var phonesMax: Int {
    contacts.population.owners(share: scenario.adoption.max() ?? 0, seed: seed).count
  }

  /// Runs the scenario.
  ///
  /// - Parameters:
  ///   - folder: An existing folder for the data of phones and servers.
  ///   - progress: Called after each day of each run with the days that have passed and all days.
  /// - Throws: The error of the phones or servers, `PhoneNotEnabled`, or `CancellationError`.
  public func run(
    in folder: URL, progress: (Int, Int) -> Void = { _, _ in }
  ) async throws -> PopulationResult {
    let start = Spread(scenario, contacts: contacts, rate: rate, seed: seed)
    // The run without phones is made anyway.
    let shares = scenario.adoption.filter { $0 > 0 }
    let all = scenario.days * (shares.count + 1)
    var done = 0
    let advance = {
      done += 1
      progress(done, all)
    }
    let without = try await runDays(from: start, with: nil, share: 0, advance)
    var runs: [RunResult] = []
    for (number, share) in shares.enumerated() {
      let folder = folder.appendingPathComponent("run-\(number)")
      runs.append(try await run(from: start, share: share, in: folder, advance))
    }
    return PopulationResult(
      scenario: scenario, seed: seed, population: contacts.population, without: without, runs: runs)
  }

  private func run(
    from start: Spread, share: Double, in folder: URL, _ advance: () -> Void
  ) async throws -> RunResult {
    // Nothing of it is needed after the run; the caller removes what is left.
    defer { try? FileManager.default.removeItem(at: folder) }
    let fleet = try PhoneFleet(
      scenario, owners: contacts.population.owners(share: share, seed: seed), seed: seed,
      threads: threads, folder: folder, logger: logger)
    return try await fleet.withServers {
      try await fleet.enable()
      return try await runDays(from: start, with: fleet, share: share, advance)
    }
  }

  private func runDays(
    from start: Spread, with fleet: PhoneFleet?, share: Double, _ advance: () -> Void
  ) async throws -> RunResult {
    var day = PopulationDay(scenario: scenario, spread: start, fleet: fleet)
    for _ in 0..<scenario.days {
      try await day.run()
      advance()
    }
    return day.result(adoption: share)
  }
}

/// The events of a run.
struct EventLog {
  private var events: [RunEvent]

  /// Begins with the first cases.
  init(_ start: Spread) {
    events = start.epidemic.courses.keys.map {
      RunEvent(second: 0, person: $0, kind: .infected(by: nil))
    }
  }

  mutating func note(_ infected: [Int], _ spread: Spread) {
    for person in infected {
      guard let course = spread.epidemic.courses[person] else { continue }
      events.append(
        RunEvent(second: course.infected, person: person, kind: .infected(by: course.source)))
    }
  }

  mutating func note(_ event: HealthCare.Dated) {
    let kind: RunEvent.Kind =
      switch event.event {
      case .symptoms: .symptoms
      case .result(let isPositive): .tested(isPositive: isPositive)
      }
    events.append(RunEvent(second: event.second, person: event.person, kind: kind))
  }

  mutating func note(_ kind: RunEvent.Kind, of person: Int, at second: Int) {
    events.append(RunEvent(second: second, person: person, kind: kind))
  }

  /// By time and person; events of one person at one time keep their order.
  var sorted: [RunEvent] {
    events.enumerated().sorted {
      ($0.element.second, $0.element.person, $0.offset)
        < ($1.element.second, $1.element.person, $1.offset)
    }.map(\.element)
  }
}

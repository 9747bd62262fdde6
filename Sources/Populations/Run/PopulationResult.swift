// SPDX-License-Identifier: Apache-2.0
import ReportFormats

/// The result of a scenario. It has no wall times, so that equal seeds give equal files.
public struct PopulationResult: Sendable {
  /// The scenario.
  public let scenario: Scenario
  /// The seed.
  public let seed: UInt64
  /// The number of people.
  public let people: Int
  /// The names of the people in a recording, by number.
  public let names: [String]?
  /// The run without the app.
  public let without: RunResult
  /// The runs with the app, by increasing share of users.
  public let runs: [RunResult]

  /// Creates a result.
  public init(
    scenario: Scenario, seed: UInt64, population: Population, without: RunResult,
    runs: [RunResult]
  ) {
    self.scenario = scenario
    self.seed = seed
    people = population.count
    names = population.names
    self.without = without
    self.runs = runs
  }
}

extension PopulationResult {
  /// The text of `events.csv`: all events of all runs, that without the app first. People in a recording have their
  /// names, others numbers.
  public var eventsCSV: String {
    let people = names.map { $0.map(CSVText.field) } ?? (0..<people).map { "\($0)" }
    var lines = ["adoption,seconds,day,person,event,detail"]
    for run in [without] + runs {
      for event in run.events {
        let (name, detail) = event.kind.columns { people[$0] }
        lines.append(
          "\(run.adoption),\(event.second),\(event.day(ofDays: scenario.days)),"
            + "\(people[event.person]),\(name),\(detail)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension RunEvent.Kind {
  /// The columns `event` and `detail`; `name` returns that of a person.
  fileprivate func columns(_ name: (Int) -> String) -> (String, String) {
    switch self {
    case .infected(let source): ("infected", source.map(name) ?? "")
    case .symptoms: ("symptoms", "")
    case .tested(let isPositive): ("tested", isPositive ? "positive" : "negative")
    case .uploaded: ("uploaded", "")
    // A reason is a word of the app; a comma would begin another column.
    case .uploadFailed(let reason): ("upload-failed", reason.replacing(",", with: ";"))
    case .notified(let alert): ("notified", alert.rawValue)
    case .missed: ("missed", "")
    }
  }
}

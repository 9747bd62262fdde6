// SPDX-License-Identifier: Apache-2.0

/// The result of a scenario. It has no wall times, so that equal seeds give equal files.
public struct PopulationResult: Sendable {
  /// The scenario.
  public let scenario: Scenario
  /// The seed.
  public let seed: UInt64
  /// The number of people.
  public let people: Int
  /// The run without the app.
  public let without: RunResult
  /// The runs with the app, by increasing share of users.
  public let runs: [RunResult]

  /// Creates a result.
  public init(
    scenario: Scenario, seed: UInt64, people: Int, without: RunResult, runs: [RunResult]
  ) {
    self.scenario = scenario
    self.seed = seed
    self.people = people
    self.without = without
    self.runs = runs
  }
}

extension PopulationResult {
  /// The text of `events.csv`: all events of all runs, that without the app first.
  public var eventsCSV: String {
    var lines = ["adoption,seconds,day,person,event,detail"]
    for run in [without] + runs {
      for event in run.events {
        let (name, detail) = event.kind.columns
        lines.append(
          "\(run.adoption),\(event.second),\(event.second / Epidemic.daySeconds),\(event.person),"
            + "\(name),\(detail)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension RunEvent.Kind {
  /// The columns `event` and `detail`.
  fileprivate var columns: (String, String) {
    switch self {
    case .infected(let source): ("infected", source.map { "\($0)" } ?? "")
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

// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The content of `summary.json`. Absent fields have no value.
public struct PopulationSummary: Encodable, Sendable {
  /// One run.
  public struct Run: Encodable, Sendable {
    /// The share of people with the app.
    public let adoption: Double
    /// The number of phones.
    public let phones: Int
    /// The number of infected people, and the reproduction number of those who were infected early.
    public let infected: Int
    public let reproductionNumber: Double?
    /// The people who published their keys.
    public let uploads: Int
    /// The people with an alert, by its truth, and those who got none in time.
    public let notified: Int
    public let trueAlerts: Int
    public let falseAlerts: Int
    public let missedAlerts: Int
    /// The people with an alert who were infected before it.
    public let infectedBeforeAlert: Int
    /// The mean number of scans of a phone and day that received another phone.
    public let receivingScansPerPhoneAndDay: Double
    /// The checks, and those that failed.
    public let checks: Int
    public let failedChecks: Int
    /// The checks for which the server had published no key file for two weeks.
    public let checksWithoutKeyFiles: Int
    /// The decoys that phones have sent.
    public let decoys: Int
    /// New infections and all alerts by day.
    public let infectionsByDay: [Int]
    public let alertsByDay: [Int]

    init(_ run: RunResult, days: Int) {
      adoption = run.adoption
      phones = run.phones
      infected = run.infected
      reproductionNumber = run.reproductionNumber
      uploads = run.uploads
      notified = run.notified
      trueAlerts = run.trueAlerts
      falseAlerts = run.falseAlerts
      missedAlerts = run.missedAlerts
      infectedBeforeAlert = run.infectedBeforeAlert
      let phoneDays = Double(max(run.phones, 1) * days)
      receivingScansPerPhoneAndDay = (Double(run.receivingScans) / phoneDays * 10).rounded() / 10
      checks = run.checks
      failedChecks = run.failedChecks
      checksWithoutKeyFiles = run.checksWithoutKeyFiles
      decoys = run.decoys
      infectionsByDay = run.daily(days) { if case .infected = $0 { true } else { false } }
      alertsByDay = run.daily(days) {
        if case .notified(let alert) = $0 { alert != .lowRisk } else { false }
      }
    }
  }

  /// The name of the scenario.
  public let name: String
  /// The seed.
  public let seed: UInt64
  /// The number of people and days.
  public let people: Int
  public let days: Int
  /// The run without the app.
  public let without: Run
  /// The runs with it.
  public let runs: [Run]

  /// The extent in words: `300 people, 28 days, seed 1`.
  public var extent: String {
    "\(people) people, \(days == 1 ? "1 day" : "\(days) days"), seed \(seed)"
  }

  /// A sentence for each run with failed checks, or with checks without any key file.
  public var doubtfulChecks: [String] {
    runs.flatMap { run in
      let share = String(format: "%g %%", run.adoption * 100)
      let found = [
        (run.failedChecks, "failed"), (run.checksWithoutKeyFiles, "found no key file of two weeks"),
      ]
      return found.filter { $0.0 > 0 }.map {
        "With \(share) app users, \($0.0) of \(run.checks) checks \($0.1)."
      }
    }
  }

  /// Creates the summary of a result.
  public init(_ result: PopulationResult) {
    let days = result.scenario.days
    name = result.scenario.name
    seed = result.seed
    people = result.people
    self.days = days
    without = Run(result.without, days: days)
    runs = result.runs.map { Run($0, days: days) }
  }
}

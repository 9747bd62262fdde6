// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Populations

/// The days of one run: people meet, phones send, scan and check, and people react. Without phones, people only meet.
struct PopulationDay {
  private let scenario: Scenario
  private let fleet: PhoneFleet?
  private var spread: Spread
  private var events: EventLog
  private var alerted: Set<Int> = []
  private var missed: Set<Int> = []
  private var pendingUploads: [Int] = []

  init(scenario: Scenario, spread: Spread, fleet: PhoneFleet?) {
    self.scenario = scenario
    self.spread = spread
    self.fleet = fleet
    events = EventLog(spread)
  }

  /// Runs the next day.
  mutating func run() async throws {
    spread.beginDay()
    try fleet?.beginDay(spread.day)
    for hour in stride(from: 0, to: 24, by: Self.stepHours) {
      try Task.checkCancellation()
      let second = spread.day * Epidemic.daySeconds + (hour + Self.stepHours) * 3_600
      let encounters = passHours(from: hour)
      guard let fleet else { continue }
      await fleet.pass(encounters, onDay: spread.day, until: second)
      await upload(at: second, to: fleet)
      try await fleet.publish()
      note(await fleet.checkForKeys(), at: second)
    }
    noteMissed(at: (spread.day + 1) * Epidemic.daySeconds)
  }

  /// The hours after which phones are computed: apps check for keys every four hours.
  private static let stepHours = 4

  private mutating func passHours(from hour: Int) -> [Encounter] {
    (hour..<hour + Self.stepHours).flatMap { hour in
      let passed = spread.pass(hour: hour)
      events.note(passed.infected, spread)
      let second = spread.day * Epidemic.daySeconds + (hour + 1) * 3_600
      for event in spread.takeEvents(until: second) { note(event) }
      return passed.encounters
    }
  }

  func result(adoption: Double) -> RunResult {
    let counts = fleet?.counts ?? PhoneFleet.CheckCounts()
    return RunResult(
      adoption: adoption, phones: fleet?.owners.count ?? 0, events: events.sorted,
      infected: spread.epidemic.courses.count,
      reproductionNumber: spread.reproductionNumber(days: scenario.days),
      receivingScans: fleet?.receivingScanCount ?? 0, checks: counts.checks,
      failedChecks: counts.failed, checksWithoutKeyFiles: counts.withoutKeyFiles,
      decoys: fleet?.decoyCount ?? 0)
  }

  private mutating func note(_ event: HealthCare.Dated) {
    events.note(event)
    guard event.event == .result(isPositive: true), fleet?.hasPhone(event.person) == true,
      spread.health.uploads(event.person, at: event.second)
    else { return }
    pendingUploads.append(event.person)
  }

  /// Uploads one after the other, so that the server stores the keys in the same order in every run.
  private mutating func upload(at second: Int, to fleet: PhoneFleet) async {
    for person in pendingUploads {
      switch await fleet.upload(person) {
      case nil:
        spread.note(uploadOf: person, at: second)
        events.note(.uploaded, of: person, at: second)
      case .some(let reason): events.note(.uploadFailed(reason), of: person, at: second)
      }
    }
    pendingUploads = []
  }

  private mutating func note(_ notices: [(person: Int, level: RiskLevel)], at second: Int) {
    for (person, level) in notices {
      guard level == .high else {
        events.note(.notified(.lowRisk), of: person, at: second)
        continue
      }
      let isTrue = spread.exposures.isAlertTrue(person, at: second)
      events.note(.notified(isTrue ? .trueAlert : .falseAlert), of: person, at: second)
      alerted.insert(person)
      spread.note(noticeOf: person, at: second)
    }
  }

  private mutating func noteMissed(at second: Int) {
    for person in fleet?.owners ?? [] where !alerted.contains(person) && !missed.contains(person) {
      guard spread.exposures.isAlertOverdue(person, at: second) else { continue }
      missed.insert(person)
      events.note(.missed, of: person, at: second)
    }
  }
}

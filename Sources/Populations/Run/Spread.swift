// SPDX-License-Identifier: Apache-2.0

/// A population over time: the infection, the tests, the isolation and the close contacts. It knows no phone.
///
/// Call `beginDay`, then `pass` and `takeEvents` for each of its hours.
public struct Spread: Sendable {
  /// The infection.
  public private(set) var epidemic: Epidemic
  /// The tests and the isolation.
  public private(set) var health: HealthCare
  /// The contacts with people who were infectious.
  public private(set) var exposures: ExposureLog
  /// The day that has begun.
  public private(set) var day = -1

  private let scenario: Scenario
  private let contacts: any ContactSource
  private var today: [Encounter] = []

  /// Begins with the first cases.
  ///
  /// - Parameter rate: The result of `Epidemic.calibratedRate`.
  public init(_ scenario: Scenario, contacts: any ContactSource, rate: Double, seed: UInt64) {
    self.scenario = scenario
    self.contacts = contacts
    epidemic = Epidemic(
      people: contacts.population.count, firstCases: scenario.firstCases,
      disease: scenario.disease, rate: rate, seed: seed)
    health = HealthCare(scenario.behaviour, seed: seed)
    exposures = ExposureLog(scenario.closeContact)
    for (person, course) in epidemic.courses.sorted(by: { $0.key < $1.key }) {
      health.note(infectionOf: person, course)
    }
  }

  /// Begins the next day.
  public mutating func beginDay() {
    day += 1
    today = contacts.encounters(onDay: day)
    health.addOtherSymptoms(people: contacts.population.count, onDay: day)
    exposures.forget(before: day - ExposureLog.daysKept)
  }

  /// Lets an hour of the day pass.
  ///
  /// - Returns: The encounters that took place, clipped to the hour, and the newly infected people.
  public mutating func pass(hour: Int) -> (encounters: [Encounter], infected: [Int]) {
    let (begin, end) = (Int32(hour * 3_600), Int32(hour * 3_600 + 3_600))
    let second = day * Epidemic.daySeconds + hour * 3_600
    let active = today.compactMap { encounter -> Encounter? in
      guard let part = encounter.clipped(from: begin, to: end) else { return nil }
      let isAvoided =
        !encounter.place.remainsInIsolation
        && (health.isIsolated(Int(encounter.first), at: second)
          || health.isIsolated(Int(encounter.second), at: second))
      return isAvoided ? nil : part
    }
    exposures.note(active, onDay: day, of: epidemic)
    let infected = epidemic.pass(active, onDay: day)
    for person in infected {
      if let course = epidemic.courses[person] { health.note(infectionOf: person, course) }
    }
    return (active, infected)
  }

  /// Takes the events of people's health until a second of the run.
  public mutating func takeEvents(until second: Int) -> [HealthCare.Dated] {
    health.takeEvents(until: second, epidemic: epidemic)
  }

  /// Lets a notified person react.
  public mutating func note(noticeOf person: Int, at second: Int) {
    health.note(noticeOf: person, at: second, epidemic: epidemic)
  }

  /// Notes that a person has published keys.
  public mutating func note(uploadOf person: Int, at second: Int) {
    exposures.note(uploadOf: person, at: second)
  }

  /// The days of the infections by which the reproduction number is counted: those whose infectiousness has ended.
  ///
  /// - Returns: Nil if a run of `days` days has none.
  public static func cohort(days: Int) -> Range<Int>? {
    days > Disease.infectiousDays.upperBound ? 0..<days - Disease.infectiousDays.upperBound : nil
  }

  /// The reproduction number after a run of `days` days; nil if there is none.
  public func reproductionNumber(days: Int) -> Double? {
    Self.cohort(days: days).flatMap(epidemic.reproductionNumber(ofDays:))
  }
}

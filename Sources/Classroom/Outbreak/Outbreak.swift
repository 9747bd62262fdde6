// SPDX-License-Identifier: Apache-2.0
import Foundation
import Simulation
import World

/// The true spread of an infection among people, which is never passed to the phones.
///
/// It is computed from the same distances as the radio. The seed and the names determine every draw, so the order in
/// which people are processed has no effect.
struct Outbreak: Sendable {
  /// An infection of one person.
  struct Infection: Hashable, Sendable {
    let time: Date
    /// The person who passed the infection on; `nil` if the teacher started it.
    let source: String?
  }

  let rules: OutbreakRules
  private let sources: SeededSources
  private(set) var infections: [String: Infection] = [:]
  /// The minutes that each two people were near each other, in both orders, whether they were infectious or not.
  private var meetings: [String: [String: Int]] = [:]
  /// The contacts of each person, by the infectious person.
  private(set) var contacts: [String: [String: Contact]] = [:]

  init(rules: OutbreakRules = OutbreakRules(), sources: SeededSources) {
    self.rules = rules
    self.sources = sources
  }

  /// The health of `person` at `date`.
  func health(of person: String, at date: Date) -> Health {
    guard let infection = infections[person] else { return .well }
    return rules.health(
      hoursSinceInfection: date.timeIntervalSince(infection.time) / 3_600)
  }

  /// Starts an infection; a person who had one already is not infected again.
  mutating func infect(_ person: String, at date: Date, by source: String? = nil) {
    guard infections[person] == nil else { return }
    infections[person] = Infection(time: date, source: source)
  }

  /// Infects one of `people` who was never infected, drawn from the seed.
  ///
  /// - Returns: The person; `nil` if all were infected before.
  mutating func infectOne(of people: [String], at date: Date) -> String? {
    let free = people.filter { infections[$0] == nil }
    guard !free.isEmpty else { return nil }
    let draw = sources.source("first infection after \(infections.count) others")
    let person = free[draw.number(in: 0...free.count - 1)]
    infect(person, at: date)
    return person
  }

  /// Advances the outbreak by `minutes` with constant distances.
  ///
  /// - Parameters:
  ///   - start: The beginning of this time. People who are infected in it are not infectious before its end.
  ///   - isOn: True for a person whose phone is on.
  mutating func pass(
    minutes: Int, from start: Date, distances: AirDistances, isOn: (String) -> Bool
  ) {
    for (person, others) in distances {
      for (other, metres) in others where metres <= rules.near.metres {
        meetings[person, default: [:]][other, default: 0] += minutes
      }
    }
    let infectious = distances.keys.filter { health(of: $0, at: start).infects }.sorted()
    for source in infectious {
      for (person, metres) in distances[source, default: [:]].sorted(by: { $0.key < $1.key }) {
        guard metres <= rules.near.metres else { continue }
        contacts[person, default: [:]][source, default: Contact()].add(
          minutes: minutes, metres: metres, at: start, bothOn: isOn(person) && isOn(source),
          rules: rules)
        let percent = rules.percent(metres: metres, minutes: minutes)
        if infections[person] == nil, draw(from: source, to: person, at: start) <= percent {
          infect(person, at: start, by: source)
        }
      }
    }
  }

  /// A number from 1 to 100.
  private func draw(from source: String, to person: String, at date: Date) -> Int {
    sources.source("infection of \(person) by \(source) at \(date.unixSecond)")
      .number(in: 1...100)
  }

  /// The minutes that two people were near each other.
  func minutes(of person: String, near other: String) -> Int {
    meetings[person, default: [:]][other, default: 0]
  }

  /// The contacts by which `person` counts as exposed.
  func exposures(of person: String) -> [String: Contact] {
    contacts[person, default: [:]].filter { $0.value.total.near >= rules.exposedMinutes }
  }
}

/// The rules by which the infection of a lesson spreads. They are simple enough to compute by hand, and describe no
/// real disease.
struct OutbreakRules: Hashable, Sendable {
  /// A range of distances with the chance of an infection.
  struct Reach: Hashable, Sendable {
    /// The largest distance of the range.
    let metres: Double
    /// The chance of an infection in a whole hour, in percent; less time has a smaller chance.
    let percentPerHour: Int
  }

  /// The distance of a conversation.
  var close = Reach(metres: 2, percentPerHour: 25)
  /// The distance of neighbours in a room.
  var near = Reach(metres: 4, percentPerHour: 8)
  /// The hours from the infection until a person infects others.
  var hoursUntilInfectious = 24.0
  /// The hours from the infection until a person feels ill.
  var hoursUntilIll = 48.0
  /// The hours from the infection after which a person is no longer infectious.
  var hoursUntilRecovered = 240.0
  /// The minutes near an infectious person from which on a person counts as exposed.
  var exposedMinutes = 15

  /// The course of a new infection.
  func health(hoursSinceInfection hours: Double) -> Health {
    if hours < hoursUntilInfectious { return .infected }
    if hours < hoursUntilIll { return .infectious }
    return hours < hoursUntilRecovered ? .ill : .recovered
  }

  /// The chance in percent that an infectious person infects another one.
  func percent(metres: Double, minutes: Int) -> Int {
    let perHour =
      metres <= close.metres
      ? close.percentPerHour : metres <= near.metres ? near.percentPerHour : 0
    return perHour * min(minutes, 60) / 60
  }
}

/// The true health of a person, which phones never learn.
enum Health: Int, CaseIterable, Comparable, Sendable {
  /// Never infected.
  case well
  /// Infected, and not infectious yet.
  case infected
  /// Infects others and feels well.
  case infectious
  /// Infects others and feels ill.
  case ill
  /// No longer infectious, and cannot be infected again.
  case recovered

  /// True if the person infects others.
  var infects: Bool { self == .infectious || self == .ill }

  static func < (one: Health, other: Health) -> Bool { one.rawValue < other.rawValue }
}

/// The time that a person has spent within reach of one infectious person.
struct Contact: Hashable, Sendable {
  /// The minutes of one day, 00:00 to 24:00 UTC, as the keys of phones.
  struct Minutes: Hashable, Sendable {
    /// Minutes within reach.
    var near = 0
    /// Those of `near` in which both phones were on.
    var received = 0
  }

  /// The minutes of each day, by the number of days since 1970.
  private(set) var days: [Int: Minutes] = [:]

  /// Adds time at `metres`; time out of reach is not recorded.
  mutating func add(
    minutes: Int, metres: Double, at date: Date, bothOn: Bool, rules: OutbreakRules
  ) {
    guard metres <= rules.near.metres else { return }
    var day = days[date.unixDay, default: Minutes()]
    day.near += minutes
    if bothOn { day.received += minutes }
    days[date.unixDay] = day
  }

  /// The minutes of all days.
  var total: Minutes { sum { _ in true } }

  /// The minutes of the days before that of `date`.
  func total(beforeDayOf date: Date) -> Minutes {
    let day = date.unixDay
    return sum { $0 < day }
  }

  /// The end of the last day before that of `date`; `nil` if there was no contact before.
  func lastDayEnd(beforeDayOf date: Date) -> Date? {
    let day = date.unixDay
    return days.keys.filter { $0 < day }.max().map { Date(unixDay: $0 + 1) }
  }

  private func sum(where isWanted: (Int) -> Bool) -> Minutes {
    days.reduce(into: Minutes()) { sum, day in
      guard isWanted(day.key) else { return }
      sum.near += day.value.near
      sum.received += day.value.received
    }
  }
}

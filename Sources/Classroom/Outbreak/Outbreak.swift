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
    sources.source("infection of \(person) by \(source) at \(Int(date.timeIntervalSince1970))")
      .number(in: 1...100)
  }

  /// The contacts by which `person` counts as exposed.
  func exposures(of person: String) -> [String: Contact] {
    contacts[person, default: [:]].filter { $0.value.total.near >= rules.exposedMinutes }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Simulation
import Testing

@testable import Classroom

@Suite("The true spread of an infection") struct OutbreakTests {
  /// A Monday, 00:00 UTC.
  private static let midnight = Date(timeIntervalSince1970: 1_772_409_600)
  private static let hour: TimeInterval = 3_600

  /// Rules with which everyone within two metres of an infectious person is infected, and no other person.
  private static let certain: OutbreakRules = {
    var rules = OutbreakRules()
    rules.close = OutbreakRules.Reach(metres: 2, percentPerHour: 100)
    rules.near = OutbreakRules.Reach(metres: 4, percentPerHour: 0)
    return rules
  }()

  private func outbreak(_ rules: OutbreakRules = certain, seed: UInt64 = 1) -> Outbreak {
    Outbreak(rules: rules, sources: SeededSources(seed: seed))
  }

  /// Distances in both directions.
  private func distances(_ pairs: [(String, String, Double)]) -> AirDistances {
    pairs.reduce(into: [:]) { distances, pair in
      distances[pair.0, default: [:]][pair.1] = pair.2
      distances[pair.1, default: [:]][pair.0] = pair.2
    }
  }

  @Test(
    "An infected person is infectious after 24 hours, ill after 48, recovered after 240",
    arguments: [
      (0.0, Health.infected), (23.9, .infected), (24, .infectious), (47.9, .infectious),
      (48, .ill), (239.9, .ill), (240, .recovered),
    ])
  func course(_ hours: Double, _ health: Health) {
    var outbreak = outbreak()
    outbreak.infect("a", at: Self.midnight)
    #expect(outbreak.health(of: "a", at: Self.midnight + hours * Self.hour) == health)
    #expect(outbreak.health(of: "b", at: Self.midnight) == .well)
  }

  @Test(
    "The chance of an infection depends on the distance and the minutes",
    arguments: [
      (2.0, 60, 25), (2, 30, 12), (2, 120, 25), (2.01, 60, 8), (4, 60, 8), (4.01, 60, 0),
    ])
  func chance(_ metres: Double, _ minutes: Int, _ percent: Int) {
    #expect(OutbreakRules().percent(metres: metres, minutes: minutes) == percent)
  }

  @Test(
    "A chain of neighbours is infected one after another, and only while its members are infectious"
  )
  func chain() {
    var outbreak = outbreak()
    let chain = distances([("a", "b", 1), ("b", "c", 2), ("c", "d", 2.5)])
    outbreak.infect("a", at: Self.midnight)
    var times: [String: Double] = [:]
    for hour in 0..<120 {
      let start = Self.midnight + Double(hour) * Self.hour
      outbreak.pass(minutes: 60, from: start, distances: chain) { _ in true }
      for (name, infection) in outbreak.infections where times[name] == nil {
        times[name] = infection.time.timeIntervalSince(Self.midnight) / Self.hour
      }
    }
    // Each becomes infectious 24 hours after the infection; 2.5 metres are too far by these rules.
    #expect(times == ["a": 0, "b": 24, "c": 48])
    #expect(outbreak.infections["c"]?.source == "b")
    #expect(outbreak.contacts["d"]?["c"]?.total.near == 48 * 60)
  }

  @Test("Of 1,000 meetings of an hour, about a quarter infects, and the seed determines which")
  func seed() {
    let names = (1...1_000).map { "neighbour-\($0)" }
    func infected(seed: UInt64) -> Set<String> {
      var outbreak = outbreak(OutbreakRules(), seed: seed)
      outbreak.infect("a", at: Self.midnight)
      let meeting = distances(names.map { ("a", $0, 1.5) })
      let start = Self.midnight + 24 * Self.hour
      outbreak.pass(minutes: 60, from: start, distances: meeting) { _ in true }
      return Set(outbreak.infections.keys)
    }
    #expect((200...300).contains(infected(seed: 1).count))
    #expect(infected(seed: 1) == infected(seed: 1))
    #expect(infected(seed: 1) != infected(seed: 2))
  }

  @Test("The first infections are drawn from those who had none, until there are no more")
  func firstInfections() {
    var outbreak = outbreak()
    let names = ["a", "b", "c"]
    let drawn = names.map { _ in outbreak.infectOne(of: names, at: Self.midnight) }
    #expect(Set(drawn.compactMap(\.self)) == Set(names))
    #expect(outbreak.infectOne(of: names, at: Self.midnight) == nil)
  }

  @Test(
    "Fifteen minutes within four metres of an infectious person are an exposure, fourteen are not")
  func exposure() {
    var outbreak = outbreak()
    outbreak.infect("a", at: Self.midnight)
    let noon = Self.midnight + 36 * Self.hour
    outbreak.pass(
      minutes: 14, from: noon, distances: distances([("a", "b", 4), ("a", "c", 4.01)])
    ) { _ in true }
    #expect(outbreak.exposures(of: "b").isEmpty)
    outbreak.pass(minutes: 1, from: noon, distances: distances([("a", "b", 3)])) { _ in true }
    #expect(Set(outbreak.exposures(of: "b").keys) == ["a"])
    #expect(outbreak.exposures(of: "c").isEmpty)
    #expect(outbreak.exposures(of: "a").isEmpty)
  }

  @Test("Minutes are counted by day, and those with a phone off are not received")
  func minutes() {
    var contact = Contact()
    let rules = OutbreakRules()
    func add(_ minutes: Int, hour: Double, _ metres: Double, bothOn: Bool = true) {
      contact.add(
        minutes: minutes, metres: metres, at: Self.midnight + hour * Self.hour, bothOn: bothOn,
        rules: rules)
    }
    add(10, hour: 23, 1)
    add(20, hour: 23.5, 3, bothOn: false)
    add(40, hour: 24, 3)
    add(60, hour: 25, 5)
    #expect(contact.total == Contact.Minutes(near: 70, received: 50))
    let secondDay = Self.midnight + 30 * Self.hour
    #expect(
      contact.total(beforeDayOf: secondDay) == Contact.Minutes(near: 30, received: 10))
    #expect(contact.lastDayEnd(beforeDayOf: secondDay) == Self.midnight + 24 * Self.hour)
    #expect(contact.lastDayEnd(beforeDayOf: Self.midnight) == nil)
  }
}

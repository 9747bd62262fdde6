// SPDX-License-Identifier: Apache-2.0

/// Contacts of households, classes, workplaces, friends and strangers, calibrated with POLYMOD.
///
/// Every day is drawn from the seed and its number alone. Documentation/Populations.md compares the means with the
/// survey.
public struct GeneratedContacts: ContactSource {
  public let population: Population
  private let seed: UInt64
  private let friendships: [(Int, Int)]

  /// Draws the people and their friends.
  public init(people: Int, seed: UInt64) {
    self.seed = seed
    population = Population(count: people, seed: seed)
    var generator = StreamGenerator(seed: seed, Stream.friends)
    var pairs: [(Int, Int)] = []
    for _ in 0..<people * ContactModel.friends / 2 {
      let (one, other) = (
        generator.number(in: 0...people - 1), generator.number(in: 0...people - 1)
      )
      if one != other { pairs.append((one, other)) }
    }
    friendships = pairs
  }

  public func encounters(onDay day: Int) -> [Encounter] {
    var generator = StreamGenerator(seed: seed, Stream.day, UInt64(day))
    var found: [Encounter] = []
    let isWeekend = day % 7 >= 5
    for household in population.households { addHome(household, to: &found, &generator) }
    if !isWeekend {
      for group in population.groups { add(group, to: &found, &generator) }
    }
    for (one, other) in friendships where generator.happens(ContactModel.friendsMeet) {
      found.append(ContactModel.leisure.encounter(one, other, isWeekend: isWeekend, &generator))
    }
    addStrangers(isWeekend: isWeekend, to: &found, &generator)
    return found.inOrder()
  }

  private func addHome(
    _ household: [Int], to found: inout [Encounter], _ generator: inout StreamGenerator
  ) {
    forEachPair(household) { one, other in
      found.append(
        ContactModel.home.encounter(one, other, isWeekend: false, &generator))
      // Phones lie in the same flat at night, before and after midnight.
      let metres = generator.number(in: ContactModel.nightMetres)
      for hours in ContactModel.nightHours {
        found.append(
          Encounter(
            one, other, from: hours.lowerBound * 3_600, to: hours.upperBound * 3_600,
            metres: metres, at: .home))
      }
    }
  }

  private func add(
    _ group: Population.Group, to found: inout [Encounter], _ generator: inout StreamGenerator
  ) {
    let model = group.occupation == .school ? ContactModel.school : ContactModel.work
    let chance = min(1, model.partners / Double(max(group.members.count - 1, 1)))
    forEachPair(group.members) { one, other in
      guard generator.happens(chance) else { return }
      found.append(model.encounter(one, other, isWeekend: false, &generator))
    }
  }

  private func addStrangers(
    isWeekend: Bool, to found: inout [Encounter], _ generator: inout StreamGenerator
  ) {
    let count = population.count
    guard count > 1 else { return }
    // Each person has as many partners as a negative binomial with the dispersion of POLYMOD.
    let dispersion = ContactModel.dispersion
    for person in 0..<count {
      let mean = generator.gamma(
        shape: dispersion, scale: ContactModel.strangers / 2 / dispersion)
      var left = mean
      while generator.happens(min(1, left)) {
        left -= 1
        let other = generator.number(in: 0...count - 1)
        guard other != person else { continue }
        found.append(
          ContactModel.elsewhere.encounter(person, other, isWeekend: isWeekend, &generator))
      }
    }
  }

  private func forEachPair(_ people: [Int], _ body: (Int, Int) -> Void) {
    for (index, one) in people.enumerated() {
      for other in people.dropFirst(index + 1) { body(one, other) }
    }
  }
}

/// The contacts of one kind of place.
struct ContactModel: Sendable {
  let place: Place
  /// The mean number of partners of a person who goes there on a working day, if a group meets there.
  var partners = 0.0
  /// The shares of contacts of under 5 minutes, 5 to 15, 15 to 60, 1 to 4 hours, and longer (POLYMOD).
  let durationShares: [Double]
  /// The hours in which contacts take place.
  let hours: ClosedRange<Int>
  /// The same at the weekend; nil if they are the same.
  var weekendHours: ClosedRange<Int>?

  /// The limits of the durations, in minutes.
  private static let durations = [1.0...5.0, 5...15, 15...60, 60...240, 240...480]
  /// The gamma distribution of distances in metres, fitted to the Copenhagen study (agent-based-epidemic-sim).
  private static let distance = (shape: 1.472, scale: 1.898)
  private static let metres = 0.3...10.0

  static let home = ContactModel(
    place: .home, durationShares: [0.05, 0.08, 0.15, 0.25, 0.47], hours: 15...23)
  static let school = ContactModel(
    place: .school, partners: 11, durationShares: [0.07, 0.09, 0.15, 0.27, 0.42], hours: 8...14)
  static let work = ContactModel(
    place: .work, partners: 5.5, durationShares: [0.20, 0.22, 0.20, 0.17, 0.21], hours: 9...17)
  static let leisure = ContactModel(
    place: .leisure, durationShares: [0.12, 0.14, 0.22, 0.34, 0.18], hours: 17...23,
    weekendHours: 10...23)
  static let elsewhere = ContactModel(
    place: .elsewhere, durationShares: [0.23, 0.23, 0.20, 0.18, 0.16], hours: 7...20,
    weekendHours: 9...20)

  /// The friends of each person, and the chance that two friends meet on a day: 2.75 contacts a day.
  static let friends = 12
  static let friendsMeet = 0.23
  /// The mean number of strangers that a person meets on a day: transport and other places.
  static let strangers = 2.96
  /// The dispersion of the number of contacts of POLYMOD.
  static let dispersion = 1.8
  /// The hours in which all people of a household are at home and sleep.
  static let nightHours = [0...7, 23...24]
  /// The distance of two people of a household at night.
  static let nightMetres = 1.0...6.0

  /// Draws the duration, the start and the distance of an encounter.
  func encounter(
    _ one: Int, _ other: Int, isWeekend: Bool, _ generator: inout StreamGenerator
  ) -> Encounter {
    let hours = isWeekend ? weekendHours ?? hours : hours
    let (first, last) = (hours.lowerBound * 3_600, hours.upperBound * 3_600)
    let range = Self.durations[generator.index(by: durationShares)]
    let seconds = min(Int(generator.number(in: range) * 60), last - first)
    let start = generator.number(in: first...last - seconds)
    let drawn = generator.gamma(shape: Self.distance.shape, scale: Self.distance.scale)
    let metres = min(max(drawn, Self.metres.lowerBound), Self.metres.upperBound)
    return Encounter(one, other, from: start, to: start + seconds, metres: metres, at: place)
  }
}

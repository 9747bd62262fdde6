// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The true spread of an infection. Phones never see it.
///
/// Every draw has a stream of its own, so two runs with one seed differ only by the contacts that were avoided.
public struct Epidemic: Sendable {
  /// The seconds of a day.
  public static let daySeconds = 86_400

  /// The infected people.
  public private(set) var courses: [Int: Course] = [:]
  private let disease: Disease
  private let seed: UInt64
  private let weights: [Double]
  /// The rate of infections a minute within 1 m on a day of the whole infectiousness.
  private let rate: Double

  /// Begins with the first cases, drawn from the seed.
  ///
  /// - Parameters:
  ///   - people: The number of people.
  ///   - firstCases: The number of people who are infected at the start.
  ///   - rate: The result of `calibratedRate`.
  public init(people: Int, firstCases: Int, disease: Disease, rate: Double, seed: UInt64) {
    self.disease = disease
    self.seed = seed
    self.rate = rate
    weights = disease.dailyWeights
    var generator = StreamGenerator(seed: seed, Stream.firstCases)
    for person in (0..<people).shuffled(using: &generator).prefix(firstCases) {
      courses[person] = Course(of: person, at: 0, by: nil, disease: disease, seed: seed)
    }
  }

  /// Lets the encounters of a part of a day infect people.
  ///
  /// - Parameters:
  ///   - encounters: Clipped to the part of the day.
  ///   - day: The day of the run.
  /// - Returns: The newly infected people in the order of their numbers. They infect others from the next day on.
  @discardableResult
  public mutating func pass(_ encounters: [Encounter], onDay day: Int) -> [Int] {
    let begin = day * Self.daySeconds
    var new: [Int: Course] = [:]
    for encounter in encounters {
      let pair = (Int(encounter.first), Int(encounter.second))
      for (source, person) in [pair, (pair.1, pair.0)] where courses[person] == nil {
        guard let strength = strength(of: source, onDay: day) else { continue }
        let minutes = Double(encounter.end - encounter.start) / 60
        let dose = minutes * Disease.dose(metres: Double(encounter.metres)) * strength
        var generator = StreamGenerator(
          seed: seed, Stream.transmission, UInt64(begin + Int(encounter.start)), UInt64(source),
          UInt64(person))
        guard generator.happens(1 - exp(-rate * dose)) else { continue }
        let second = begin + Int(encounter.end)
        guard new[person].map({ $0.infected > second }) ?? true else { continue }
        new[person] = Course(of: person, at: second, by: source, disease: disease, seed: seed)
      }
    }
    for (person, course) in new { courses[person] = course }
    return new.keys.sorted()
  }

  /// The infectiousness of a person on a day; nil if there is none.
  private func strength(of person: Int, onDay day: Int) -> Double? {
    guard let course = courses[person] else { return nil }
    let age = day - course.infected / Self.daySeconds
    guard Disease.infectiousDays.contains(age) else { return nil }
    return weights[age] * course.infectiousness
  }

  /// True if the person could infect others on a day.
  public func isInfectious(_ person: Int, onDay day: Int) -> Bool {
    strength(of: person, onDay: day) != nil
  }

  /// The mean number of people that those infected on the given days have infected.
  ///
  /// - Returns: Nil if no person was infected on these days.
  public func reproductionNumber(ofDays days: Range<Int>) -> Double? {
    let cases = courses.filter { days.contains($0.value.infected / Self.daySeconds) }.keys
    guard !cases.isEmpty else { return nil }
    let infected = courses.values.reduce(into: [Int: Int]()) { counts, course in
      if let source = course.source { counts[source, default: 0] += 1 }
    }
    return Double(cases.reduce(0) { $0 + infected[$1, default: 0] }) / Double(cases.count)
  }

  /// The rate at which people infect, in the mean, the number of people that the disease states, if all others are
  /// susceptible and no person isolates.
  ///
  /// - Throws: `UnreachableReproductionNumber` if there are too few contacts.
  public static func calibratedRate(
    of contacts: any ContactSource, disease: Disease
  ) throws(UnreachableReproductionNumber) -> Double {
    // Sorted, because the sum of floating point numbers depends on their order.
    let doses = doses(of: contacts, weights: disease.dailyWeights).values.sorted()
    let people = Double(contacts.population.count)
    func mean(_ rate: Double) -> Double {
      2 * doses.reduce(0) { $0 + disease.meanChance(ofDose: rate * $1) } / people
    }
    var (low, high) = (0.0, rates.lowerBound)
    while mean(high) < disease.reproductionNumber {
      high *= 2
      guard high < rates.upperBound else {
        throw UnreachableReproductionNumber(partners: 2 * Double(doses.count) / people)
      }
    }
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if mean(middle) < disease.reproductionNumber { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }

  /// The rates between which the calibration searches. At the highest one, nearly each contact that can infect does.
  private static let rates = 1e-6...1e6

  /// The dose of each pair in the days in which an infected person is infectious.
  private static func doses(
    of contacts: any ContactSource, weights: [Double]
  ) -> [UInt64: Double] {
    var doses: [UInt64: Double] = [:]
    for day in Disease.infectiousDays {
      for encounter in contacts.encounters(onDay: day) {
        let pair = UInt64(encounter.first) << 32 | UInt64(encounter.second)
        let minutes = Double(encounter.end - encounter.start) / 60
        doses[pair, default: 0] +=
          minutes * Disease.dose(metres: Double(encounter.metres)) * weights[day]
      }
    }
    return doses
  }
}

/// The contacts are too few for the reproduction number of the disease.
public struct UnreachableReproductionNumber: Error, Hashable, Sendable {
  /// The mean number of people whom a person meets in the days of an infection.
  public let partners: Double
}

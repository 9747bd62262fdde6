// SPDX-License-Identifier: Apache-2.0

/// The people of a scenario: ages, households, and the class or workplace of each.
///
/// People are numbers from 0.
public struct Population: Sendable {
  /// The place at which a person spends the working day.
  public enum Occupation: Sendable {
    case school
    case work
  }

  /// A class or a workplace.
  public struct Group: Sendable {
    /// The place.
    public let occupation: Occupation
    /// The people.
    public let members: [Int]
  }

  /// The age of each person in years; nil if ages are not known, as for recorded contacts.
  public let ages: [Int]?
  /// The name of each person in a recording; nil for drawn people.
  public let names: [String]?
  /// The people of each household.
  public let households: [[Int]]
  /// The classes and workplaces.
  public let groups: [Group]
  /// The number of people.
  public let count: Int

  /// A population without households and ages, for recorded contacts.
  public init(count: Int) {
    self.init(count: count, names: nil)
  }

  /// The same for people with names.
  public init(names: [String]) {
    self.init(count: names.count, names: names)
  }

  private init(count: Int, names: [String]?) {
    self.count = count
    self.names = names
    ages = nil
    households = []
    groups = []
  }

  /// Draws a population.
  ///
  /// Households have the sizes of the UK (ONS, 27.6 million households), people go to school from 6 to 17, and 7 of 10
  /// work from 18 to 66. Documentation/Populations.md has the sources.
  public init(count: Int, seed: UInt64) {
    self.count = count
    var generator = StreamGenerator(seed: seed, Stream.population)
    var ages: [Int] = []
    var households: [[Int]] = []
    while ages.count < count {
      let size = min(count - ages.count, generator.index(by: HouseholdModel.sizeShares) + 1)
      households.append(Array(ages.count..<ages.count + size))
      ages += HouseholdModel.ages(of: size, &generator)
    }
    self.ages = ages
    names = nil
    self.households = households
    groups = Self.groups(of: ages, &generator)
  }

  private static func groups(of ages: [Int], _ generator: inout StreamGenerator) -> [Group] {
    let pupils = ages.indices.filter { (6...17).contains(ages[$0]) }
      .shuffled(using: &generator).sorted { ages[$0] < ages[$1] }
    let workers = ages.indices.filter {
      (18...66).contains(ages[$0]) && generator.happens(GroupModel.employedShare)
    }.shuffled(using: &generator)
    var groups = stride(from: 0, to: pupils.count, by: GroupModel.classSize).map { start in
      Group(occupation: .school, members: Array(pupils[start...].prefix(GroupModel.classSize)))
    }
    var rest = workers[...]
    while !rest.isEmpty {
      let size = generator.number(in: GroupModel.workplaceSizes)
      groups.append(Group(occupation: .work, members: Array(rest.prefix(size))))
      rest = rest.dropFirst(size)
    }
    return groups
  }

  /// The people who have the app if a share of all has it, in the order in which they would install it.
  ///
  /// The chance follows the ownership of smartphones by age (OFCOM, as in OpenABM). The first people of a smaller
  /// share are among those of a larger one.
  public func owners(share: Double, seed: UInt64) -> [Int] {
    let wanted = Int((share * Double(count)).rounded())
    let keys = (0..<count).map { person -> Double in
      var generator = StreamGenerator(seed: seed, Stream.owners, UInt64(person))
      let weight = ages.map { PhoneModel.ownership(age: $0[person]) } ?? 1
      return -Double.logarithm(1 - generator.unit()) / weight
    }
    return (0..<count).sorted { (keys[$0], $0) < (keys[$1], $1) }.prefix(wanted).sorted()
  }
}

/// The numbers of the random streams of a run.
public enum Stream {
  static let population: UInt64 = 1
  static let owners: UInt64 = 2
  static let friends: UInt64 = 3
  static let day: UInt64 = 4
  static let course: UInt64 = 5
  static let transmission: UInt64 = 6
  static let behaviour: UInt64 = 7
  static let firstCases: UInt64 = 8
  /// The scans of one phone.
  public static let scans: UInt64 = 9
  /// The deviation of the attenuation between two phones in an hour.
  public static let shift: UInt64 = 10
}

// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import World

/// The phones of people who meet at the places of an `Itinerary`, in one process. Each has the real framework and the
/// real app.
public struct Crowd: Sendable {
  /// The world that the phones share.
  public let world: SimulatedWorld
  /// The phones, in the order of the people of `itinerary`.
  public private(set) var phones: [SimulatedPhone] = []
  /// The places of the people.
  public private(set) var itinerary: Itinerary
  private let folder: URL
  private let configuration: AppConfiguration
  private let network: any Network

  /// Creates a crowd without people, whose phones will store their data below `folder`.
  public init(
    world: SimulatedWorld, folder: URL, authority: SimulatedHealthAuthority, network: any Network
  ) async {
    self.world = world
    self.folder = folder
    self.network = network
    itinerary = Itinerary(people: [], sources: world.randomness)
    configuration = await authority.appConfiguration()
  }

  /// Adds a person with a phone that is switched on. The favourite places of all people are drawn again, because a
  /// larger town has more places; homes stay.
  ///
  /// - Throws: `PhoneNotEnabled`, or the error of the app. Then nothing is added.
  public mutating func add(_ name: String) async throws {
    let phone = SimulatedPhone(
      name: name, folder: folder.appendingPathComponent("phone-\(name)"), world: world,
      configuration: configuration, network: network)
    let outcome = try await phone.enable()
    guard outcome == .enabled else { throw PhoneNotEnabled(name: name, outcome: outcome) }
    phones.append(phone)
    itinerary = Itinerary(people: itinerary.people + [name], sources: world.randomness)
  }

  /// The distances of the people that are at the same place, in the present hour.
  ///
  /// - Parameter absent: People who are alone.
  public func distances(without absent: Set<String> = []) -> AirDistances {
    let all = itinerary.distances(at: world.clock.now)
    guard !absent.isEmpty else { return all }
    return all.filter { !absent.contains($0.key) }
      .mapValues { others in others.filter { !absent.contains($0.key) } }
  }

  /// Runs the phones until `end`, which is in the same hour or at its end. People stay at their places.
  ///
  /// - Parameters:
  ///   - off: Phones that are off.
  ///   - absent: People who are alone.
  public func meet(
    until end: Date, off: Set<String> = [], absent: Set<String> = []
  ) async {
    world.air.place(distances(without: absent))
    await world.run(until: end, phones: phones.filter { !off.contains($0.name) })
  }

  /// Runs the background checks that are due, except on the phones `off`.
  public func checkForKeys(off: Set<String> = []) async {
    _ = await world.checkForKeys(phones.filter { !off.contains($0.name) })
  }
}

/// The places at which the people of a town are in each hour, drawn from a seed.
///
/// Three people share a home. In the day, each person is at home or at one of three favourite places, such as a
/// school, a shop or a café. Phones of different places do not receive each other.
public struct Itinerary: Sendable {
  /// The names of the people.
  public let people: [String]
  private let sources: SeededSources
  private let favourites: [[Int]]

  /// People of one home.
  private static let homeSize = 3
  /// People for each place that is not a home.
  private static let peoplePerPlace = 8
  private static let favouriteCount = 3
  /// The hours of the day in which people may leave their homes.
  private static let hoursOutside = 7..<22
  /// The percentage of these hours that people spend outside.
  private static let percentOutside = 60
  /// The distance between neighbouring places, out of the range of a radio.
  private static let metresBetweenPlaces = 80.0
  /// The largest distance of a person from the centre of a place, in centimetres along each axis.
  private static let centimetresFromCentre = 400

  /// Draws the favourite places of `people`.
  public init(people: [String], sources: SeededSources) {
    self.people = people
    self.sources = sources
    let placeCount = max(Self.favouriteCount, people.count / Self.peoplePerPlace)
    favourites = people.map { name in
      let source = sources.source("favourite places of \(name)")
      return (0..<Self.favouriteCount).map { _ in source.number(in: 0...placeCount - 1) }
    }
  }

  /// The positions of all people in the hour of `date`, in the order of `people`.
  public func positions(at date: Date) -> [Position] {
    let hour = Self.hour(date)
    return people.indices.map { position(of: $0, in: hour) }
  }

  /// The distances of all phones that are at the same place.
  public func distances(at date: Date) -> AirDistances {
    let hour = Self.hour(date)
    let groups = Dictionary(grouping: people.indices) { place(of: $0, in: hour) }
    var distances: AirDistances = [:]
    for group in groups.values {
      let positions = group.map { position(of: $0, in: hour) }
      for (person, one) in zip(group, positions) {
        for (neighbour, other) in zip(group, positions) where neighbour != person {
          distances[people[person], default: [:]][people[neighbour]] = one.metres(to: other)
        }
      }
    }
    return distances
  }

  private static func hour(_ date: Date) -> Int {
    Int((date.timeIntervalSince1970 / 3_600).rounded(.down))
  }

  /// The number of a place: first those that are not homes.
  private func place(of person: Int, in hour: Int) -> Int {
    let source = sources.source("place of \(people[person]) in hour \(hour)")
    guard Self.hoursOutside.contains(hour % 24),
      source.number(in: 1...100) <= Self.percentOutside
    else { return placeCount + person / Self.homeSize }
    return favourites[person][source.number(in: 0...Self.favouriteCount - 1)]
  }

  private var placeCount: Int { max(Self.favouriteCount, people.count / Self.peoplePerPlace) }

  private func position(of person: Int, in hour: Int) -> Position {
    let place = place(of: person, in: hour)
    let source = sources.source("position of \(people[person]) in hour \(hour)")
    let spread = -Self.centimetresFromCentre...Self.centimetresFromCentre
    func coordinate(_ index: Int) -> Double {
      Double(index) * Self.metresBetweenPlaces + Double(source.number(in: spread)) / 100
    }
    let columns = columnCount
    return Position(x: coordinate(place % columns), y: coordinate(place / columns))
  }

  /// Places form a square.
  private var columnCount: Int {
    let all = placeCount + (people.count + Self.homeSize - 1) / Self.homeSize
    return max(1, Int(Double(all).squareRoot().rounded(.up)))
  }
}

// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import KeyServer
import Logging
import Simulation
import TestSupport
import Testing
import World

@Suite("Places of many people") struct ItineraryTests {
  private static let people = (1...60).map { "person-\($0)" }
  /// A Monday, 00:00 UTC.
  private static let midnight = Date(timeIntervalSince1970: 1_772_409_600)

  private func itinerary(seed: UInt64 = 1) -> Itinerary {
    Itinerary(people: Self.people, sources: SeededSources(seed: seed))
  }

  @Test("At night, people are with those of their home, and out of the range of all others")
  func night() {
    let distances = itinerary().distances(at: Self.midnight + 3 * 3_600)
    #expect(distances.count == 60)
    for (index, name) in Self.people.enumerated() {
      let home = index / 3 * 3..<index / 3 * 3 + 3
      #expect(Set(distances[name, default: [:]].keys) == Set(Self.people[home]).subtracting([name]))
    }
  }

  @Test("By day, people of one place are within 12 metres, and different people meet each hour")
  func day() {
    let itinerary = itinerary()
    var neighbours: [Set<String>] = []
    for hour in 8..<20 {
      let date = Self.midnight + Double(hour) * 3_600
      let distances = itinerary.distances(at: date)
      #expect(distances.values.allSatisfy { $0.values.allSatisfy { $0 < 12 } })
      #expect(
        distances.allSatisfy { one, others in
          others.allSatisfy { distances[$0.key]?[one] == $0.value }
        })
      neighbours.append(Set(distances["person-1", default: [:]].keys))
    }
    #expect(Set(neighbours).count > 6)
    #expect(neighbours.contains { $0.count > 2 })
  }

  @Test("Positions agree with distances, and people without a distance are out of range")
  func positions() {
    let itinerary = itinerary()
    let date = Self.midnight + 12 * 3_600
    let positions = itinerary.positions(at: date)
    let distances = itinerary.distances(at: date)
    for (one, name) in zip(positions, Self.people) {
      for (other, neighbour) in zip(positions, Self.people) where neighbour != name {
        if let distance = distances[name]?[neighbour] {
          #expect(distance == one.metres(to: other))
        } else {
          #expect(one.metres(to: other) > 60)
        }
      }
    }
  }

  @Test("The seed determines all places")
  func seed() {
    let date = Self.midnight + 10 * 3_600
    #expect(itinerary().distances(at: date) == itinerary().distances(at: date))
    #expect(itinerary().distances(at: date) != itinerary(seed: 2).distances(at: date))
  }
}

@Suite("Many phones in one process") struct CrowdTests {
  private static let start = Date(timeIntervalSince1970: 1_772_409_600)

  @Test("The error of a phone that cannot be switched on names the disk only if it is full")
  func notEnabled() {
    func text(_ outcome: EnableOutcome) -> String {
      PhoneNotEnabled(name: "person 12", outcome: outcome).description
    }
    let start = "The phone of person 12 could not be switched on: "
    #expect(text(.diskFull) == start + "free disk space.")
    for outcome in EnableOutcome.allCases where outcome != .diskFull {
      #expect(text(outcome) == start + "the outcome is \(outcome.rawValue).")
    }
    let error = PhoneNotEnabled(name: "person 12", error: StorageFailure.full)
    #expect(error.description == start + "The disk is full; free some space and try again.")
  }

  @Test("Phones that were together with a diagnosed person show a notice, others do not")
  func outbreak() async throws {
    let folder = try TemporaryFolder()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let world = SimulatedWorld(start: Self.start, seed: 5, logger: logger)
    let authority = try SimulatedHealthAuthority(
      folder: folder.path("authority"), clock: world.clock, randomness: world.randomness,
      deviceCheck: nil, minimumKeys: 0, logger: logger)
    let network = HTTPNetwork(ownMachineTimeoutSeconds: Double(Patience.seconds))
    try await authority.serve(over: network) {
      var crowd = await Crowd(
        world: world, folder: folder.url, authority: authority, network: network)
      for number in 1...12 { try await crowd.add("person-\(number)") }
      for _ in 0..<25 { await Self.passHour(of: crowd) }
      let code = try await authority.official(network: network).issueCode()
      let upload = await crowd.phones[0].app.upload(pin: code, isInteroperabilityEnabled: false)
      #expect(upload.result == .success)
      for _ in 25..<48 {
        await Self.passHour(of: crowd)
        try await authority.keyServer.exportDue()
      }
      for phone in crowd.phones {
        let hours = Self.hours(with: "person-1", phone.name, crowd.itinerary)
        let notified = !phone.notices.exposureNotices.isEmpty
        // The home of person-1 is shared for nine hours of the night.
        if hours >= 9 { #expect(notified, "\(phone.name) was with person-1 for \(hours) h") }
        if hours == 0 { #expect(!notified, "\(phone.name) never met person-1") }
      }
    }
  }

  private static func passHour(of crowd: Crowd) async {
    await crowd.meet(until: crowd.world.clock.now + 3_600)
    await crowd.checkForKeys()
  }

  /// The hours of the first day in which two people were at the same place.
  private static func hours(
    with one: String, _ other: String, _ itinerary: Itinerary
  ) -> Int {
    (0..<24).filter { itinerary.distances(at: start + Double($0) * 3_600)[one]?[other] != nil }
      .count
  }
}

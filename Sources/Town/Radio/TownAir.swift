// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Populations
import Simulation
import Synchronization
import World

/// The radio channel of a town: the places of people in metres, and the beacon that each phone sends.
package final class TownAir: Sendable {
  /// A place in metres from the corner of the map.
  package struct Place: Codable, Hashable, Sendable {
    package var x: Double
    package var y: Double

    package init(x: Double, y: Double) {
      self.x = x
      self.y = y
    }

    func metres(to other: Place) -> Double {
      ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
    }
  }

  /// An advertisement with the address that it is sent from.
  struct Beacon: Hashable, Sendable {
    let address: [UInt8]
    let payload: [UInt8]
  }

  /// A beacon as a controller received it.
  struct Reception: Hashable, Sendable {
    let beacon: Beacon
    let signalStrength: Int8
  }

  /// The beacons that a phone received from another one.
  struct Contact: Hashable, Sendable {
    let receiver: String
    let sender: String
    /// The advertisements that were received.
    var count = 0
    /// Their payloads together, in bytes.
    var bytes = 0
    /// The time of the last one.
    var last: Date
  }

  private struct State {
    var contacts: [String: Contact] = [:]
    var places: [String: Place] = [:]
    var beacons: [String: Beacon] = [:]
    /// The number of scans in which a phone received another one.
    var receivingScans: [String: Int] = [:]
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> Date
  private let randomness: any Randomness

  /// Creates a channel without phones.
  ///
  /// - Parameters:
  ///   - now: The time of contacts.
  ///   - randomness: Spreads the signal strengths.
  package init(now: @escaping @Sendable () -> Date, randomness: any Randomness) {
    self.now = now
    self.randomness = randomness
  }

  /// Moves a person, or adds a new one.
  package func move(_ name: String, to place: Place) {
    state.withLock { $0.places[name] = place }
  }

  package var places: [String: Place] { state.withLock { $0.places } }

  /// The names of the phones that send now.
  package var senders: Set<String> { state.withLock { Set($0.beacons.keys) } }

  /// The number of scans in which each phone received another one.
  package var receivingScans: [String: Int] { state.withLock { $0.receivingScans } }

  /// The beacons that each phone received from each other one, since the start of the town.
  var contacts: [Contact] { state.withLock { Array($0.contacts.values) } }

  /// Replaces the beacon of a phone; `nil` stops it.
  func set(_ beacon: Beacon?, from name: String) {
    state.withLock { $0.beacons[name] = beacon }
  }

  /// The beacons that a scan of `name` receives, in the order of the senders' names.
  func scan(by name: String) -> [Reception] {
    let (places, beacons) = state.withLock { ($0.places, $0.beacons) }
    guard let own = places[name] else { return [] }
    var generator = StreamGenerator(seed: UInt64(randomness.number(in: 0...Int.max)))
    let receptions = beacons.sorted { $0.key < $1.key }.flatMap { sender, beacon -> [Reception] in
      guard sender != name, let place = places[sender] else { return [] }
      let metres = own.metres(to: place)
      let count = generator.number(in: Self.model.receptionsPerScan)
      let received = (0..<count).compactMap { _ in
        Self.model.signalStrength(at: metres, from: .unknownModel, &generator).map {
          Reception(beacon: beacon, signalStrength: $0)
        }
      }
      note(received.count, of: beacon, from: sender, by: name)
      return received
    }
    if !receptions.isEmpty { state.withLock { $0.receivingScans[name, default: 0] += 1 } }
    return receptions
  }

  private func note(_ count: Int, of beacon: Beacon, from sender: String, by receiver: String) {
    guard count > 0 else { return }
    let now = now()
    state.withLock { state in
      let key = "\(sender)-\(receiver)"
      var contact =
        state.contacts[key] ?? Contact(receiver: receiver, sender: sender, last: now)
      contact.count += count
      contact.bytes += count * beacon.payload.count
      contact.last = now
      state.contacts[key] = contact
    }
  }

  /// The same losses as between simulated phones.
  private static let model = AirModel()

  /// The distance in metres at which the model receives nothing any more.
  package static var rangeMetres: Double { model.range(of: .unknownModel) }
}

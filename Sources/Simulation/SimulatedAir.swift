// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Populations
import Synchronization
import World

/// The radio channel between phones: their distances and the signal strength of each beacon.
///
/// Phones without a distance do not receive each other.
public final class SimulatedAir: Sendable {
  private struct State {
    var beacons: [String: Advertisement] = [:]
    var distances: AirDistances = [:]
    var sent: [String: Set<RollingProximityIdentifier>] = [:]
    var received: [String: Set<RollingProximityIdentifier>] = [:]
  }

  /// The losses and the receptions of scans.
  let model: AirModel
  private let state = Mutex(State())
  private let seed: UInt64
  private let records: Bool

  /// Creates an empty channel; `randomness` spreads the times of scans and the signal strengths.
  ///
  /// - Parameter records: True if the identifiers that each phone sends and receives are kept, for observers. In a
  ///   town of hundreds of phones they would need more memory than the phones.
  public init(randomness: any Randomness, model: AirModel = AirModel(), records: Bool = true) {
    seed = randomness.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    self.model = model
    self.records = records
  }

  /// Sets the distance of two phones.
  public func place(_ one: String, _ other: String, metres: Double) {
    set(metres, between: one, and: other)
  }

  /// Removes the distance of two phones, so that they do not receive each other.
  public func separate(_ one: String, _ other: String) {
    set(nil, between: one, and: other)
  }

  /// Replaces all distances.
  public func place(_ distances: AirDistances) {
    state.withLock { $0.distances = distances }
  }

  private func set(_ metres: Double?, between one: String, and other: String) {
    state.withLock { state in
      state.distances[one, default: [:]][other] = metres
      state.distances[other, default: [:]][one] = metres
    }
  }

  /// All identifiers ever sent: the knowledge of an observer with receivers everywhere.
  public var identifiersSent: Set<RollingProximityIdentifier> {
    state.withLock { $0.sent.values.reduce(into: []) { $0.formUnion($1) } }
  }

  /// All identifiers that one phone has sent.
  public func identifiersSent(by name: String) -> Set<RollingProximityIdentifier> {
    state.withLock { $0.sent[name] ?? [] }
  }

  /// All identifiers that one phone has received.
  public func identifiersReceived(by name: String) -> Set<RollingProximityIdentifier> {
    state.withLock { $0.received[name] ?? [] }
  }

  /// Sets the beacon of a phone; `nil` stops it.
  func set(_ beacon: Advertisement?, from name: String) {
    state.withLock { state in
      state.beacons[name] = beacon
      if records, let beacon { state.sent[name, default: []].insert(beacon.identifier) }
    }
  }

  /// Keeps what a phone has received, if this channel has observers.
  func note(_ scans: [Scan], by listener: String) {
    guard records else { return }
    let identifiers = scans.flatMap { $0.sightings.map(\.advertisement.identifier) }
    state.withLock { $0.received[listener, default: []].formUnion(identifiers) }
  }

  /// The draws of the radio of one phone.
  func generator(of name: String) -> StreamGenerator {
    // FNV-1a; the hash of the standard library differs from run to run.
    let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return StreamGenerator(seed: seed, Stream.scans, hash)
  }

  /// The phones in the range of each of `names`, as numbers in this list, in the order of their names.
  func nearby(_ names: [String]) -> [[NearbyPhone]] {
    let numbers = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    let distances = state.withLock { $0.distances }
    return names.map { name in
      (distances[name] ?? [:]).sorted { $0.key < $1.key }.compactMap { other, metres in
        numbers[other].map { NearbyPhone(number: $0, metres: metres) }
      }
    }
  }

  /// The beacons that `listener` can receive now, with the distances of their senders.
  func heard(by listener: String) -> [(beacon: Advertisement, metres: Double)] {
    state.withLock { state in
      (state.distances[listener] ?? [:]).sorted { $0.key < $1.key }.compactMap { name, metres in
        state.beacons[name].map { (beacon: $0, metres: metres) }
      }
    }
  }
}

/// The distances between phones in metres, by the names of both phones in either order.
public typealias AirDistances = [String: [String: Double]]

/// A phone in the range of another one for some time.
public struct NearbyPhone: Hashable, Sendable {
  /// The number of the phone in the list of all phones of a run.
  public let number: Int
  /// The distance in metres.
  public let metres: Double
  /// The deviation of the attenuation of this pair, in dB.
  public let shift: Double
  /// The time in which it is in range, in seconds since 1970.
  public let time: Range<Double>

  /// Creates a phone in range; without a time, it stays there.
  public init(
    number: Int, metres: Double, shift: Double = 0,
    time: Range<Double> = -.infinity ..< .infinity
  ) {
    self.number = number
    self.metres = metres
    self.shift = shift
    self.time = time
  }
}

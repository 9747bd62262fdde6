// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Populations
import Synchronization
import World

/// The radio channel between phones: their distances and the signal strength of each beacon.
///
/// A beacon is the advertisement of a phone in this process, or what the Bluetooth controller of a phone in another
/// process sends. Phones of this process have distances, and receive what was sent in a step of the clock; controllers
/// have positions, and receive what is sent now. Without one of both, they do not receive each other.
public final class SimulatedAir<Beacon: Hashable & Sendable>: Sendable {
  /// A beacon that a scan received.
  package struct Reception: Hashable, Sendable {
    package let sender: String
    package let beacon: Beacon
    /// In dBm.
    package let signalStrength: Int8
  }

  private struct State {
    var beacons: [String: Beacon] = [:]
    var distances: AirDistances = [:]
    var positions: [String: Position] = [:]
    var sent: [String: Set<Beacon>] = [:]
    var received: [String: Set<Beacon>] = [:]
  }

  /// The losses and the receptions of scans.
  let model: AirModel
  private let calibration: Calibration
  private let state = Mutex(State())
  private let seed: UInt64
  private let records: Bool

  /// Creates an empty channel; `randomness` spreads the times of scans and the signal strengths.
  ///
  /// - Parameters:
  ///   - randomness: The source of the draws.
  ///   - model: The losses and the receptions of scans.
  ///   - calibration: That of all phones.
  ///   - records: True if the beacons that each phone sends and receives are kept, for observers. In a town of
  ///     hundreds of phones they would need more memory than the phones.
  public init(
    randomness: any Randomness, model: AirModel = AirModel(),
    calibration: Calibration = AirModel.calibration, records: Bool = true
  ) {
    seed = randomness.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    self.model = model
    self.calibration = calibration
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

  /// Moves a phone, or adds a new one.
  package func move(_ name: String, to position: Position) {
    state.withLock { $0.positions[name] = position }
  }

  /// The positions of the phones that have one.
  package var positions: [String: Position] { state.withLock { $0.positions } }

  /// The names of the phones that send now.
  package var senders: Set<String> { state.withLock { Set($0.beacons.keys) } }

  /// Sets the beacon of a phone; `nil` stops it.
  package func set(_ beacon: Beacon?, from name: String) {
    state.withLock { state in
      state.beacons[name] = beacon
      if records, let beacon { state.sent[name, default: []].insert(beacon) }
    }
  }

  /// The draws of the radio of one phone.
  package func generator(of name: String) -> StreamGenerator {
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

  /// The beacons that a scan of `listener` receives now from phones with positions, in the order of their names.
  ///
  /// - Parameter generator: The draws of the listener.
  package func scan(by listener: String, _ generator: inout StreamGenerator) -> [Reception] {
    let heard = state.withLock { state -> [(String, Beacon, Double)] in
      guard let here = state.positions[listener] else { return [] }
      return state.beacons.compactMap { sender, beacon in
        guard sender != listener, let there = state.positions[sender] else { return nil }
        return (sender, beacon, here.metres(to: there))
      }
    }
    var receptions: [Reception] = []
    for (sender, beacon, metres) in heard.sorted(by: { $0.0 < $1.0 }) {
      model.receive(at: metres, from: calibration, &generator) { _, strength in
        receptions.append(Reception(sender: sender, beacon: beacon, signalStrength: strength))
      }
    }
    return receptions
  }
}

extension SimulatedAir where Beacon == Advertisement {
  /// All identifiers ever sent: the knowledge of an observer with receivers everywhere.
  public var identifiersSent: Set<RollingProximityIdentifier> {
    Set(state.withLock { $0.sent.values.flatMap(\.self) }.map(\.identifier))
  }

  /// All identifiers that one phone has sent.
  public func identifiersSent(by name: String) -> Set<RollingProximityIdentifier> {
    Set(state.withLock { $0.sent[name] ?? [] }.map(\.identifier))
  }

  /// All identifiers that one phone has received.
  public func identifiersReceived(by name: String) -> Set<RollingProximityIdentifier> {
    Set(state.withLock { $0.received[name] ?? [] }.map(\.identifier))
  }

  /// Keeps what the scans of a phone have received, if this channel has observers.
  func note(_ scans: [Scan], by listener: String) {
    guard records else { return }
    let beacons = scans.flatMap { $0.sightings.map(\.advertisement) }
    state.withLock { $0.received[listener, default: []].formUnion(beacons) }
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

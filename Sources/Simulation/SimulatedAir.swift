// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Synchronization
import World

/// The radio channel between phones: their distances and the signal strength of each beacon.
///
/// The path loss follows the log-distance model with a random spread. Phones without a distance do not
/// receive each other.
public final class SimulatedAir: Sendable {
  private struct State {
    var beacons: [String: Advertisement] = [:]
    var distances: AirDistances = [:]
    var sent: [String: Set<RollingProximityIdentifier>] = [:]
    var received: [String: Set<RollingProximityIdentifier>] = [:]
  }

  private let state = Mutex(State())
  private let randomness: any Randomness
  private let records: Bool

  /// Creates an empty channel; `randomness` spreads the signal strengths.
  ///
  /// - Parameter records: True if the identifiers that each phone sends and receives are kept, for observers. In a
  ///   town of hundreds of phones they would need more memory than the phones.
  public init(randomness: any Randomness, records: Bool = true) {
    self.randomness = randomness
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

  /// The scan of `listener` that ends at `end`, in the order of the senders' names.
  func scan(by listener: String, endingAt end: Date) -> Scan {
    let heard = state.withLock { state in
      (state.distances[listener] ?? [:]).sorted { $0.key < $1.key }.compactMap { name, metres in
        state.beacons[name].map { (beacon: $0, metres: metres) }
      }
    }
    let start = end.addingTimeInterval(-AirModel.scanSeconds)
    let sightings = heard.flatMap { self.sightings(of: $0.beacon, at: $0.metres, from: start) }
    if records {
      state.withLock {
        $0.received[listener, default: []].formUnion(sightings.map(\.advertisement.identifier))
      }
    }
    return Scan(time: start, sightings: sightings)
  }

  /// The receptions of one beacon during a scan: one to several, each with its own strength.
  private func sightings(
    of beacon: Advertisement, at metres: Double, from start: Date
  ) -> [Sighting] {
    let count = randomness.number(in: AirModel.receptionsPerScan)
    return (0..<count).compactMap { number in
      let time = start.addingTimeInterval(Double(number) * AirModel.advertisingSeconds)
      return AirModel.signalStrength(at: metres, randomness).map {
        Sighting(advertisement: beacon, time: time, signalStrength: $0)
      }
    }
  }
}

/// The distances between phones in metres, by the names of both phones in either order.
public typealias AirDistances = [String: [String: Double]]

/// The parameters of the simulated radio channel, as measured indoors.
public enum AirModel {
  /// The transmit power of all phones, in dBm.
  public static let transmitPower: Int8 = -15
  /// The calibration of all phones: the model is exact.
  public static let calibration = Calibration(transmitPower: transmitPower, confidence: .high)
  /// The length of a scan, in seconds.
  public static let scanSeconds = 4.0
  /// The seconds between two receptions of the same beacon in a scan.
  public static let advertisingSeconds = 0.25
  /// The receptions of a beacon in one scan.
  public static let receptionsPerScan = 1...8
  /// The path loss over the first metre, in dB.
  public static let lossAtOneMetreDecibels = 45.0
  /// The path loss exponent: 2 in free space, more with obstacles.
  public static let exponent = 2.4
  /// The largest deviation of a reading from the model, in dB.
  public static let spreadDecibels = 3
  /// The weakest signal that a phone receives, in dBm.
  public static let sensitivity = -100.0

  /// The received signal strength, in dBm; `nil` below the sensitivity.
  public static func signalStrength(
    at metres: Double, from calibration: Calibration = calibration, _ randomness: any Randomness
  ) -> Int8? {
    let loss = lossAtOneMetreDecibels + 10 * exponent * log10(max(metres, 0.1))
    let spread = Double(randomness.number(in: -spreadDecibels...spreadDecibels))
    // The receiver is of the same model and adds its correction.
    let sent = Double(calibration.transmitPower) - Double(calibration.receiverCorrection)
    let strength = sent - loss + spread
    return strength < sensitivity ? nil : Int8(clamping: Int(strength.rounded()))
  }
}

/// The Bluetooth radio of one phone.
public final class SimulatedRadio: Radio {
  private struct State {
    var isPoweredOn = true
    var beacon: Advertisement?
    var receive: (@Sendable (Scan) async -> Void)?
    var receivingScanCount = 0
  }

  private let name: String
  private let air: SimulatedAir
  private let state = Mutex(State())

  /// Creates the radio of the phone `name`.
  public init(name: String, air: SimulatedAir) {
    self.name = name
    self.air = air
  }

  public var isPoweredOn: Bool { state.withLock { $0.isPoweredOn } }

  /// The number of scans that received a beacon.
  public var receivingScanCount: Int { state.withLock { $0.receivingScanCount } }

  /// Switches Bluetooth on or off.
  public func setPower(on isOn: Bool) {
    state.withLock { $0.isPoweredOn = isOn }
    send()
  }

  public func advertise(_ advertisement: Advertisement) async {
    state.withLock { $0.beacon = advertisement }
    send()
  }

  public func stopAdvertising() async {
    state.withLock { $0.beacon = nil }
    send()
  }

  public func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {
    state.withLock { $0.receive = receive }
  }

  public func stopListening() async {
    state.withLock { $0.receive = nil }
  }

  /// Ends a scan at `time` and passes it to the framework, also if it received nothing.
  public func scan(at time: Date) async {
    let (isPoweredOn, receive) = state.withLock { ($0.isPoweredOn, $0.receive) }
    guard isPoweredOn, let receive else { return }
    let scan = air.scan(by: name, endingAt: time)
    if !scan.sightings.isEmpty { state.withLock { $0.receivingScanCount += 1 } }
    await receive(scan)
  }

  private func send() {
    let beacon = state.withLock { $0.isPoweredOn ? $0.beacon : nil }
    air.set(beacon, from: name)
  }
}

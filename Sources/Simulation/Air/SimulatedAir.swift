import ExposureKeys
import Foundation
import Synchronization
import World

/// The air between the phones of a town: who stands how far from whom, and how strongly a beacon
/// arrives there.
///
/// Loss over distance follows the log-distance model, with a spread around it as bodies and walls
/// make it. Phones that nobody has placed near each other do not hear each other.
public final class SimulatedAir: Sendable {
  private struct Pair: Hashable {
    let names: Set<String>
  }

  private struct State {
    var beacons: [String: Advertisement] = [:]
    var metres: [Pair: Double] = [:]
    var identifiers: Set<RollingProximityIdentifier> = []
  }

  private let state = Mutex(State())
  private let randomness: any Randomness

  /// Empty air; `randomness` spreads the signal strengths.
  public init(randomness: any Randomness) {
    self.randomness = randomness
  }

  /// Puts two phones `metres` apart, until they are placed again.
  public func place(_ one: String, _ other: String, metres: Double) {
    state.withLock { $0.metres[Pair(names: [one, other])] = metres }
  }

  /// Takes two phones out of each other's reach.
  public func part(_ one: String, _ other: String) {
    state.withLock { $0.metres[Pair(names: [one, other])] = nil }
  }

  /// How far apart two phones are, where one can reach the other at all.
  public func metres(between one: String, and other: String) -> Double? {
    state.withLock { $0.metres[Pair(names: [one, other])] }
  }

  /// Every identifier that was ever on the air: what somebody with an antenna at every corner knows.
  public var identifiersSent: Set<RollingProximityIdentifier> {
    state.withLock { $0.identifiers }
  }

  /// What `name` sends from now on; nil is silence.
  func set(_ beacon: Advertisement?, from name: String) {
    state.withLock { state in
      state.beacons[name] = beacon
      if let beacon { state.identifiers.insert(beacon.identifier) }
    }
  }

  /// What one scan of `listener` hears at `time`, in the order of the senders' names.
  func heard(by listener: String, at time: Date) -> [Sighting] {
    let (beacons, metres) = state.withLock { ($0.beacons, $0.metres) }
    return beacons.sorted { $0.key < $1.key }.compactMap { name, beacon in
      guard name != listener, let distance = metres[Pair(names: [name, listener])],
        let strength = signalStrength(at: distance)
      else { return nil }
      return Sighting(advertisement: beacon, time: time, signalStrength: strength)
    }
  }

  /// The strength a beacon arrives with, in dBm; nil where it drowns in the noise.
  private func signalStrength(at metres: Double) -> Int8? {
    let loss =
      AirModel.lossAtOneMetreDecibels + 10 * AirModel.exponent * log10(max(metres, 0.1))
    let spread = Double(randomness.number(in: -AirModel.spreadDecibels...AirModel.spreadDecibels))
    let strength = Double(AirModel.transmitPower) - loss + spread
    return strength < AirModel.sensitivity ? nil : Int8(clamping: Int(strength.rounded()))
  }
}

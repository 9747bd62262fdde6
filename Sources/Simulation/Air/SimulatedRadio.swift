import ExposureKeys
import Foundation
import Synchronization

/// The Bluetooth radio of one phone.
public final class SimulatedRadio: Radio {
  private struct State {
    var isPoweredOn = true
    var beacon: Advertisement?
    var receive: (@Sendable ([Sighting]) async -> Void)?
    var receivedCount = 0
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

  /// The number of received beacons.
  public var receivedCount: Int { state.withLock { $0.receivedCount } }

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

  public func listen(_ receive: @escaping @Sendable ([Sighting]) async -> Void) async {
    state.withLock { $0.receive = receive }
  }

  public func stopListening() async {
    state.withLock { $0.receive = nil }
  }

  /// Scans once and passes the sightings to the framework.
  public func scan(at time: Date) async {
    let (isPoweredOn, receive) = state.withLock { ($0.isPoweredOn, $0.receive) }
    guard isPoweredOn, let receive else { return }
    let sightings = air.sightings(for: name, at: time)
    guard !sightings.isEmpty else { return }
    state.withLock { $0.receivedCount += sightings.count }
    await receive(sightings)
  }

  private func send() {
    let beacon = state.withLock { $0.isPoweredOn ? $0.beacon : nil }
    air.set(beacon, from: name)
  }
}

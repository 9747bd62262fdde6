import ExposureKeys
import Foundation
import Synchronization

/// The Bluetooth of one phone in the simulated air.
public final class SimulatedRadio: Radio {
  private struct State {
    var isPoweredOn = true
    var beacon: Advertisement?
    var receive: (@Sendable ([Sighting]) async -> Void)?
    var heardCount = 0
  }

  private let name: String
  private let air: SimulatedAir
  private let state = Mutex(State())

  /// The radio of the phone called `name`.
  public init(name: String, air: SimulatedAir) {
    self.name = name
    self.air = air
  }

  public var isPoweredOn: Bool { state.withLock { $0.isPoweredOn } }

  /// How many beacons it has heard and handed over.
  public var heardCount: Int { state.withLock { $0.heardCount } }

  /// Switches Bluetooth on or off, as the phone's owner does.
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

  /// Scans once, and returns when the phone has kept what it heard.
  public func scan(at time: Date) async {
    let (isPoweredOn, receive) = state.withLock { ($0.isPoweredOn, $0.receive) }
    guard isPoweredOn, let receive else { return }
    let heard = air.heard(by: name, at: time)
    guard !heard.isEmpty else { return }
    state.withLock { $0.heardCount += heard.count }
    await receive(heard)
  }

  private func send() {
    let beacon = state.withLock { $0.isPoweredOn ? $0.beacon : nil }
    air.set(beacon, from: name)
  }
}

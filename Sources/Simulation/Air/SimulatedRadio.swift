import ExposureKeys
import Foundation
import Synchronization

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

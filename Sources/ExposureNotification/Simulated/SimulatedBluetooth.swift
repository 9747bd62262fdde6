// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Synchronization

/// The Bluetooth of a device in a simulated region, which receives when the region says so.
final class SimulatedBluetooth: Radio {
  private struct State {
    var isPoweredOn = true
    var beacon: Advertisement?
    var receive: ScanReceiver?
  }

  /// The calibration of all devices, which is exact.
  static let calibration = Calibration(transmitPower: 8, confidence: .high)

  let region: SimulatedRegion
  private let state = Mutex(State())

  init(in region: SimulatedRegion) {
    self.region = region
  }

  var isPoweredOn: Bool { state.withLock { $0.isPoweredOn } }

  /// The beacon that others receive now, if any.
  var beacon: Advertisement? { state.withLock { $0.isPoweredOn ? $0.beacon : nil } }

  func setPower(on isOn: Bool) {
    state.withLock { $0.isPoweredOn = isOn }
  }

  /// Passes a scan to the device, with one sighting of `beacon`. A radio that is off scans nothing.
  func scan(at time: Date, receiving beacon: Advertisement?, attenuation: Int) async {
    let receive = state.withLock { $0.isPoweredOn ? $0.receive : nil }
    let strength = Int8(clamping: Int(Self.calibration.transmitPower) - attenuation)
    let sightings = [beacon].compactMap(\.self).map {
      Sighting(advertisement: $0, time: time, signalStrength: strength)
    }
    await receive?(Scan(time: time, sightings: sightings))
  }

  func advertise(_ advertisement: Advertisement) async {
    state.withLock { $0.beacon = advertisement }
  }

  func stopAdvertising() async {
    state.withLock { $0.beacon = nil }
  }

  func listen(_ receive: @escaping ScanReceiver) async {
    state.withLock { $0.receive = receive }
  }

  func stopListening() async {
    state.withLock { $0.receive = nil }
  }
}

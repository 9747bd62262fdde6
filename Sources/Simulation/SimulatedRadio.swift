// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import ExposureNotification
import Foundation
import Populations
import Synchronization

/// The Bluetooth radio of one phone.
public final class SimulatedRadio: Radio {
  private struct State {
    var isPoweredOn = true
    var beacon: Advertisement?
    var receive: (@Sendable (Scan) async -> Void)?
    var receivingScanCount = 0
    var generator: StreamGenerator
    /// The end of the next scan; nil before the first.
    var nextScan: Date?
  }

  private let name: String
  private let air: SimulatedAir<Advertisement>
  private let state: Mutex<State>

  /// Creates the radio of the phone `name`.
  public init(name: String, air: SimulatedAir<Advertisement>) {
    self.name = name
    self.air = air
    state = Mutex(State(generator: air.generator(of: name)))
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

  /// The scans that end after `start` and until `end`; nil if Bluetooth is off or no receiver listens.
  ///
  /// - Parameters:
  ///   - nearby: The phones in range.
  ///   - beacons: The beacons of all phones in this time, by their numbers.
  func scans(
    after start: Date, until end: Date, _ nearby: [NearbyPhone], _ beacons: [[ScheduledBeacon]]
  ) -> [Scan]? {
    let scans = state.withLock { state -> [Scan]? in
      guard state.isPoweredOn, state.receive != nil else { return nil }
      var next = state.nextScan ?? .distantPast
      if next <= start { next = Self.scan(after: start, &state.generator) }
      var scans: [Scan] = []
      while next <= end {
        let scan = scan(endingAt: next, nearby, beacons, &state.generator)
        if !scan.sightings.isEmpty { state.receivingScanCount += 1 }
        scans.append(scan)
        next = Self.scan(after: next, &state.generator)
      }
      state.nextScan = next
      return scans
    }
    if let scans { air.note(scans, by: name) }
    return scans
  }

  private static func scan(after date: Date, _ generator: inout StreamGenerator) -> Date {
    date.addingTimeInterval(Double(generator.number(in: AirModel.scanIntervalSeconds)))
  }

  private func scan(
    endingAt end: Date, _ nearby: [NearbyPhone], _ beacons: [[ScheduledBeacon]],
    _ generator: inout StreamGenerator
  ) -> Scan {
    let start = end.addingTimeInterval(-AirModel.scanSeconds)
    let second = start.timeIntervalSince1970
    var sightings: [Sighting] = []
    for phone in nearby where phone.time.contains(second) {
      guard let beacon = beacons[phone.number].current(at: start) else { continue }
      air.model.receive(at: phone.metres, shift: phone.shift, &generator) { seconds, strength in
        sightings.append(
          Sighting(
            advertisement: beacon, time: start.addingTimeInterval(seconds),
            signalStrength: strength))
      }
    }
    return Scan(time: start, sightings: sightings)
  }

  private func send() {
    let beacon = state.withLock { $0.isPoweredOn ? $0.beacon : nil }
    air.set(beacon, from: name)
  }
}

extension [ScheduledBeacon] {
  /// The beacon that is sent at a time; the first one before its time, because a scan may have begun before it.
  fileprivate func current(at time: Date) -> Advertisement? {
    (last { $0.start <= time } ?? first)?.advertisement
  }
}

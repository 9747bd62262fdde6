// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The part of a phone's Bluetooth that exposure notification needs.
///
/// The operating system, the hardware or a simulation implements it. The radio decides when it scans.
/// After each scan, also one that received nothing, it passes on the scan and waits until it is stored.
/// Documentation/Framework.md has a complete implementation.
public protocol Radio: Sendable {
  /// True if the radio is on.
  var isPoweredOn: Bool { get async }

  /// Sends `advertisement` instead of the previous one, from a new random address. Address and identifier
  /// must change together (Bluetooth Specification 1.2.2, "Privacy").
  func advertise(_ advertisement: Advertisement) async

  /// Stops sending.
  func stopAdvertising() async

  /// Passes each scan, also an empty one, to `receive` instead of the previous receiver.
  func listen(_ receive: @escaping ScanReceiver) async

  /// Stops scanning.
  func stopListening() async
}

/// Stores a scan of the radio. On return it is on the disk.
///
/// The function runs on the caller's actor. A radio names this type instead of writing the function type,
/// because a package without `NonisolatedNonsendingByDefault` would have to write
/// `nonisolated(nonsending) @Sendable (Scan) async -> Void` for it.
public typealias ScanReceiver = @Sendable (Scan) async -> Void

/// A scan of the radio with all beacons that it received, possibly none.
///
/// The time between two scans is the weight of the later one, so a scan without sightings counts, too. A
/// radio that never stops scanning divides the time into scans of at most 17 seconds every few minutes:
/// beacons that are more than 25 seconds apart count as two scans.
public struct Scan: Hashable, Sendable {
  /// The start of the scan.
  public let time: Date
  /// The received beacons, in any order. A beacon that was received several times occurs as often.
  public let sightings: [Sighting]

  /// Creates a scan that began at `time`.
  public init(time: Date, sightings: [Sighting]) {
    self.time = time
    self.sightings = sightings
  }
}

/// A received beacon, with its time and strength.
public struct Sighting: Hashable, Sendable {
  /// The received beacon.
  public let advertisement: Advertisement
  /// The time of reception.
  public let time: Date
  /// The received signal strength in dBm, as the radio measured it.
  public let signalStrength: Int8

  /// Creates a sighting of `advertisement` at `time` with `signalStrength` in dBm.
  public init(advertisement: Advertisement, time: Date, signalStrength: Int8) {
    self.advertisement = advertisement
    self.time = time
    self.signalStrength = signalStrength
  }

  /// The sighting with `decibels` added to its signal strength.
  public func corrected(by decibels: Int8) -> Sighting {
    Sighting(
      advertisement: advertisement, time: time,
      signalStrength: Int8(clamping: Int(signalStrength) + Int(decibels)))
  }
}

import Foundation

/// The part of a phone's Bluetooth that exposure notification needs.
///
/// The operating system, the hardware or a simulation implements it. The radio decides when it scans.
/// After each scan it passes on all sightings and waits until they are stored.
///
/// A package that implements a radio enables `NonisolatedNonsendingByDefault`, as this one does, or
/// marks the handler of `listen(_:)` `nonisolated(nonsending)`.
public protocol Radio: Sendable {
  /// True if the radio is on.
  var isPoweredOn: Bool { get async }

  /// Sends `advertisement` instead of the previous one, from a new random address. Address and identifier
  /// must change together (Bluetooth Specification 1.2.2, "Privacy").
  func advertise(_ advertisement: Advertisement) async

  /// Stops sending.
  func stopAdvertising() async

  /// Passes the sightings of each scan to `receive` instead of the previous receiver.
  func listen(_ receive: @escaping @Sendable ([Sighting]) async -> Void) async

  /// Stops scanning.
  func stopListening() async
}

/// A received beacon, with its time and strength.
public struct Sighting: Hashable, Sendable {
  /// The received beacon.
  public let advertisement: Advertisement
  /// The time of reception.
  public let time: Date
  /// The received signal strength, in dBm.
  public let signalStrength: Int8

  /// Creates a sighting of `advertisement` at `time` with `signalStrength` in dBm.
  public init(advertisement: Advertisement, time: Date, signalStrength: Int8) {
    self.advertisement = advertisement
    self.time = time
    self.signalStrength = signalStrength
  }
}

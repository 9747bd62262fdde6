import Foundation

/// A phone's Bluetooth, as far as exposure notification needs it: advertisement out, sighting in.
///
/// The board, the operating system or a simulated town stands behind it. The radio decides when it
/// scans; after each scan it hands over all that it heard and waits until that is kept.
///
/// A package that writes a radio of its own enables `NonisolatedNonsendingByDefault`, as this one does,
/// or marks the handler of `listen(_:)` `nonisolated(nonsending)`.
public protocol Radio: Sendable {
  /// Whether the radio is on.
  var isPoweredOn: Bool { get async }

  /// Sends `advertisement` from now on, in place of the last one, from a new random address: the
  /// address and the identifier must change together (Bluetooth Specification 1.2.2, "Privacy").
  func advertise(_ advertisement: Advertisement) async

  /// Falls silent.
  func stopAdvertising() async

  /// Hands what each scan hears to `receive` from now on, in place of the last receiver.
  func listen(_ receive: @escaping @Sendable ([Sighting]) async -> Void) async

  /// Stops scanning.
  func stopListening() async
}

/// One beacon heard: what, when and how strongly.
public struct Sighting: Hashable, Sendable {
  /// What was heard.
  public let advertisement: Advertisement
  /// When it was heard.
  public let time: Date
  /// How strongly it was heard, in dBm.
  public let signalStrength: Int8

  /// A sighting of `advertisement` at `time` with `signalStrength` in dBm.
  public init(advertisement: Advertisement, time: Date, signalStrength: Int8) {
    self.advertisement = advertisement
    self.time = time
    self.signalStrength = signalStrength
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation

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

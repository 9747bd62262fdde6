// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A received beacon, with its time and strength.
public struct Sighting: Hashable, Sendable {
  /// The received beacon.
  public let advertisement: Advertisement
  /// The time of reception.
  public let time: Date
  /// The received signal strength in dBm, as the radio measured it; `unavailableSignalStrength` if it did not.
  public let signalStrength: Int8

  /// The signal strength of a beacon whose strength the radio did not measure, as in Bluetooth's reports.
  public static let unavailableSignalStrength: Int8 = 127

  /// Creates a sighting of `advertisement` at `time` with `signalStrength` in dBm.
  public init(advertisement: Advertisement, time: Date, signalStrength: Int8) {
    self.advertisement = advertisement
    self.time = time
    self.signalStrength = signalStrength
  }

  /// True if the radio measured the signal strength. Without it nothing is known about the distance, so a
  /// device does not count the sighting.
  public var hasSignalStrength: Bool { signalStrength != Self.unavailableSignalStrength }

  /// The sighting with `decibels` added to its signal strength, if that was measured.
  public func corrected(by decibels: Int8) -> Sighting {
    guard hasSignalStrength else { return self }
    let strongest = Int(Self.unavailableSignalStrength) - 1
    let corrected = min(Int(signalStrength) + Int(decibels), strongest)
    return Sighting(
      advertisement: advertisement, time: time, signalStrength: Int8(clamping: corrected))
  }
}

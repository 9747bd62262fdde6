/// How much of a beacon's strength was lost on the way, in decibels, 0...255.
///
/// The stand-in for distance: transmit power as the sender states it, less the strength received.
public struct Attenuation: Hashable, Comparable, Sendable {
  /// The loss in decibels.
  public let decibels: UInt8

  /// A loss of this many decibels.
  public init(decibels: UInt8) {
    self.decibels = decibels
  }

  /// The loss between sending with `transmitPower` and receiving with `signalStrength` (both dBm);
  /// `correction` (dB) makes up for the receiving phone's antenna. Clamped to 0...255.
  public init(transmitPower: Int8, signalStrength: Int8, correction: Int8 = 0) {
    let loss = Int(transmitPower) - (Int(signalStrength) + Int(correction))
    decibels = UInt8(clamping: loss)
  }

  public static func < (left: Attenuation, right: Attenuation) -> Bool {
    left.decibels < right.decibels
  }
}

import Foundation

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

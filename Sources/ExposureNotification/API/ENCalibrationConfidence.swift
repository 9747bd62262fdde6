/// How well the transmit power of a beacon is known.
@frozen public enum ENCalibrationConfidence: UInt8, Sendable {
  /// Not calibrated.
  case lowest = 0
  /// The maker's average.
  case low = 1
  /// A similar model.
  case medium = 2
  /// This model.
  case high = 3
}

/// Whether beacons are sent and heard, and if not, why.
@frozen public enum ENStatus: Int, Sendable {
  /// Not activated yet.
  case unknown = 0
  /// Sending and hearing.
  case active = 1
  /// Switched off.
  case disabled = 2
  /// Switched on, but the radio is off.
  case bluetoothOff = 3
  /// Not possible on this device.
  case restricted = 4
  /// Switched off by the system for a while.
  case paused = 5
  /// The person has not allowed it.
  case unauthorized = 6
}

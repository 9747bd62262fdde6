/// The state of sending and receiving beacons.
@frozen public enum ENStatus: Int, Sendable {
  /// Not activated yet.
  case unknown = 0
  /// Sending and receiving.
  case active = 1
  /// Turned off.
  case disabled = 2
  /// Turned on, but the radio is off.
  case bluetoothOff = 3
  /// Not possible on this device.
  case restricted = 4
  /// Turned off temporarily by the system.
  case paused = 5
  /// The user has not allowed it.
  case unauthorized = 6
}

/// The user's decision about the app's use of exposure notification.
@frozen public enum ENAuthorizationStatus: Int, Sendable {
  /// Never asked.
  case unknown = 0
  /// Forbidden on this device, regardless of the user.
  case restricted = 1
  /// The user declined; only the system's settings can change it.
  case notAuthorized = 2
  /// The user agreed.
  case authorized = 3
}

/// The reasons for which the system woke the app, with Apple's bits.
public struct ENActivityFlags: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32

  /// The reasons whose bits are set.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Reserved.
  public static let reserved1 = ENActivityFlags(rawValue: 1 << 0)
  /// Reserved.
  public static let reserved2 = ENActivityFlags(rawValue: 1 << 1)
  /// Time for the app's regular check.
  public static let periodicRun = ENActivityFlags(rawValue: 1 << 2)
  /// The user tapped the notification about the release of pre-authorized keys.
  public static let preAuthorizedKeyReleaseNotificationTapped = ENActivityFlags(rawValue: 1 << 3)
}

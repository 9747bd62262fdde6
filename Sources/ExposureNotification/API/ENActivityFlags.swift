/// Why the system woke the app, with Apple's bits.
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
  /// The person tapped the notice that keys were released ahead of time.
  public static let preAuthorizedKeyReleaseNotificationTapped = ENActivityFlags(rawValue: 1 << 3)
}

/// What an app wants to be allowed.
public struct UNAuthorizationOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  /// The options whose bits are set.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// A number on the icon.
  public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
  /// Sounds.
  public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
  /// Texts.
  public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
  /// In a car.
  public static let carPlay = UNAuthorizationOptions(rawValue: 1 << 3)
  /// Also while the phone is silenced.
  public static let criticalAlert = UNAuthorizationOptions(rawValue: 1 << 4)
  /// A way to the app's own settings.
  public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 1 << 5)
  /// Quiet ones, without being asked.
  public static let provisional = UNAuthorizationOptions(rawValue: 1 << 6)
}

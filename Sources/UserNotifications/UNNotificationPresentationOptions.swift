// SPDX-License-Identifier: Apache-2.0

/// The parts of a notification that are shown while the app is in the foreground.
public struct UNNotificationPresentationOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  /// The options whose bits are set.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The number on the app's icon.
  public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
  /// The sound.
  public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
  /// Banner and list, as before iOS 14.
  public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
  /// The entry in the list of notifications.
  public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
  /// The banner.
  public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

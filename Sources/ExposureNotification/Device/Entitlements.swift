/// What the maker of the system lets an app do.
public struct Entitlements: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  /// The entitlements whose bits are set.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Using the framework at all: `com.apple.developer.exposure-notification`.
  public static let exposureNotification = Entitlements(rawValue: 1)
  /// Trying it out: `com.apple.developer.exposure-notification-test`.
  public static let test = Entitlements(rawValue: 2)
}

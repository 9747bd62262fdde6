import Foundation

/// The sound of a notification. There is one on Linux.
public final class UNNotificationSound: NSObject, Sendable {
  /// The usual sound.
  public static let `default` = UNNotificationSound()

  private override init() {}
}

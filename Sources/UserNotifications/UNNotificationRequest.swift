import Foundation

/// What is to be shown, and when.
open class UNNotificationRequest: NSObject {
  /// The app's name for it.
  open private(set) var identifier: String
  /// What is shown.
  open private(set) var content: UNNotificationContent
  /// When; nil for at once.
  open private(set) var trigger: UNNotificationTrigger?

  /// A request to show `content` when `trigger` comes, at once without one.
  public init(
    identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?
  ) {
    self.identifier = identifier
    self.content = content
    self.trigger = trigger
  }
}

import Foundation

/// When a notification is shown. Of Apple's triggers there is the one by time that has passed.
open class UNNotificationTrigger: NSObject {
  /// Whether it is shown again and again.
  open private(set) var repeats: Bool

  init(repeats: Bool) {
    self.repeats = repeats
  }
}

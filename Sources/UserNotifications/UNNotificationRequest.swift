// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A request to show a notification.
open class UNNotificationRequest: NSObject {
  /// The app's identifier of the notification.
  open private(set) var identifier: String
  /// The content.
  open private(set) var content: UNNotificationContent
  /// The time; nil for immediately.
  open private(set) var trigger: UNNotificationTrigger?

  /// A request to show `content` at the time of `trigger`, immediately without one.
  public init(
    identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?
  ) {
    self.identifier = identifier
    self.content = content
    self.trigger = trigger
  }
}

/// The time of a notification. Of Apple's triggers only the time interval exists on Linux.
open class UNNotificationTrigger: NSObject {
  /// True if the notification is shown repeatedly.
  open private(set) var repeats: Bool

  init(repeats: Bool) {
    self.repeats = repeats
  }
}

/// A time interval after the request.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
  /// The interval in seconds.
  open private(set) var timeInterval: TimeInterval

  /// A trigger `timeInterval` seconds after the request, and at the same interval again if it `repeats`.
  public init(timeInterval: TimeInterval, repeats: Bool) {
    self.timeInterval = timeInterval
    super.init(repeats: repeats)
  }
}

/// The content of a notification. Apps create a `UNMutableNotificationContent`.
open class UNNotificationContent: NSObject {
  var storedTitle = ""
  var storedSubtitle = ""
  var storedBody = ""
  var storedBadge: NSNumber?
  var storedSound: UNNotificationSound?

  /// An empty content.
  public override init() {}

  /// The first line.
  open var title: String { storedTitle }
  /// The second line.
  open var subtitle: String { storedSubtitle }
  /// The text.
  open var body: String { storedBody }
  /// The number on the app's icon; nil leaves it unchanged, 0 removes it.
  open var badge: NSNumber? { storedBadge }
  /// The sound; nil for none.
  open var sound: UNNotificationSound? { storedSound }
}

/// The content of a notification that an app creates.
open class UNMutableNotificationContent: UNNotificationContent {
  open override var title: String {
    get { storedTitle }
    set { storedTitle = newValue }
  }
  open override var subtitle: String {
    get { storedSubtitle }
    set { storedSubtitle = newValue }
  }
  open override var body: String {
    get { storedBody }
    set { storedBody = newValue }
  }
  open override var badge: NSNumber? {
    get { storedBadge }
    set { storedBadge = newValue }
  }
  open override var sound: UNNotificationSound? {
    get { storedSound }
    set { storedSound = newValue }
  }
}

/// The sound of a notification. There is one on Linux.
public final class UNNotificationSound: NSObject, Sendable {
  /// The default sound.
  public static let `default` = UNNotificationSound()

  private override init() {}
}

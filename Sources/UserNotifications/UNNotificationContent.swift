import Foundation

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

import Foundation

/// What a notification says. Apps fill in a `UNMutableNotificationContent`.
open class UNNotificationContent: NSObject {
  var storedTitle = ""
  var storedSubtitle = ""
  var storedBody = ""
  var storedBadge: NSNumber?
  var storedSound: UNNotificationSound?

  /// Nothing.
  public override init() {}

  /// The first line.
  open var title: String { storedTitle }
  /// The second line.
  open var subtitle: String { storedSubtitle }
  /// The text.
  open var body: String { storedBody }
  /// The number on the app's icon; nil leaves it as it is, 0 takes it away.
  open var badge: NSNumber? { storedBadge }
  /// The sound; nil for none.
  open var sound: UNNotificationSound? { storedSound }
}

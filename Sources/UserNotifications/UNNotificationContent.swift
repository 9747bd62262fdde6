// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The content of a notification. Apps create a `UNMutableNotificationContent`.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
  /// The values of a content.
  struct Fields {
    var title = ""
    var subtitle = ""
    var body = ""
    var badge: NSNumber?
    var sound: UNNotificationSound?
    var attachments: [UNNotificationAttachment] = []
    var categoryIdentifier = ""
    var threadIdentifier = ""
    var userInfo: [AnyHashable: Any] = [:]
    var launchImageName = ""
    var summaryArgument = ""
    var summaryArgumentCount = 1
    var targetContentIdentifier: String?
    var interruptionLevel = UNNotificationInterruptionLevel.active
    var relevanceScore = 0.0
    var filterCriteria: String?
  }

  var fields: Fields

  /// An empty content.
  public override init() {
    fields = Fields()
  }

  init(_ fields: Fields) {
    self.fields = fields
  }

  /// The first line.
  open var title: String { fields.title }
  /// The second line.
  open var subtitle: String { fields.subtitle }
  /// The text.
  open var body: String { fields.body }
  /// The number on the app's icon; nil leaves it unchanged, 0 removes it.
  open var badge: NSNumber? { fields.badge }
  /// The sound; nil for none.
  open var sound: UNNotificationSound? { fields.sound }
  /// The pictures, sounds and films.
  open var attachments: [UNNotificationAttachment] { fields.attachments }
  /// The identifier of a registered category, which has the actions; empty for none.
  open var categoryIdentifier: String { fields.categoryIdentifier }
  /// The identifier of the group in the list of notifications.
  open var threadIdentifier: String { fields.threadIdentifier }
  /// The app's own values. The app reads them from pending requests, delivered notifications and responses.
  open var userInfo: [AnyHashable: Any] { fields.userInfo }
  /// The name of the image that is shown while the notification launches the app.
  open var launchImageName: String { fields.launchImageName }
  /// The text for the summary of a group. Ignored since iOS 15.
  open var summaryArgument: String { fields.summaryArgument }
  /// The number of items for the summary of a group. Ignored since iOS 15.
  open var summaryArgumentCount: Int { fields.summaryArgumentCount }
  /// The identifier of the part of the app that the notification opens.
  open var targetContentIdentifier: String? { fields.targetContentIdentifier }
  /// The importance.
  open var interruptionLevel: UNNotificationInterruptionLevel { fields.interruptionLevel }
  /// The place in the summary of the app's notifications, 0 to 1.
  open var relevanceScore: Double { fields.relevanceScore }
  /// The text by which a focus filters the notification.
  open var filterCriteria: String? { fields.filterCriteria }

  /// Returns the content with the values of `provider`. On Apple's systems only objects of the system provide
  /// values, and Linux has none.
  ///
  /// - Throws: `UNError(.contentProvidingObjectNotAllowed)`.
  open func updating(
    from provider: any UNNotificationContentProviding
  ) throws -> UNNotificationContent {
    throw UNError(.contentProvidingObjectNotAllowed)
  }

  /// Returns a content that cannot be changed.
  open func copy(with zone: NSZone? = nil) -> Any {
    UNNotificationContent(fields)
  }

  /// Returns a `UNMutableNotificationContent` with the same values.
  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    UNMutableNotificationContent(fields)
  }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? UNNotificationContent)?.fields == fields
  }

  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(title)
    hasher.combine(body)
    hasher.combine(categoryIdentifier)
    return hasher.finalize()
  }
}

extension UNNotificationContent.Fields: Equatable {
  static func == (one: Self, other: Self) -> Bool {
    one.title == other.title && one.subtitle == other.subtitle && one.body == other.body
      && one.badge == other.badge && one.sound == other.sound
      && one.attachments == other.attachments
      && one.categoryIdentifier == other.categoryIdentifier
      && one.threadIdentifier == other.threadIdentifier
      && NSDictionary(dictionary: one.userInfo) == NSDictionary(dictionary: other.userInfo)
      && one.launchImageName == other.launchImageName
      && one.summaryArgument == other.summaryArgument
      && one.summaryArgumentCount == other.summaryArgumentCount
      && one.targetContentIdentifier == other.targetContentIdentifier
      && one.interruptionLevel == other.interruptionLevel
      && one.relevanceScore == other.relevanceScore && one.filterCriteria == other.filterCriteria
  }
}

/// The importance of a notification.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
  /// In the list only.
  case passive = 0
  /// With banner and sound.
  case active = 1
  /// Also while a focus is active.
  case timeSensitive = 2
  /// Also while the phone is muted.
  case critical = 3
}

/// An object of Apple's system that provides values of a content. Linux has none.
public protocol UNNotificationContentProviding: NSObjectProtocol {}

// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A kind of notification of an app, with the actions that it offers.
open class UNNotificationCategory: NSObject, NSCopying {
  /// The app's identifier of the category.
  open private(set) var identifier: String
  /// The actions in the order of their buttons.
  open private(set) var actions: [UNNotificationAction]
  /// The identifiers of intents. Linux has no intents.
  open private(set) var intentIdentifiers: [String]
  /// The behavior of the category.
  open private(set) var options: UNNotificationCategoryOptions
  /// The text in place of a body that the user hides.
  open private(set) var hiddenPreviewsBodyPlaceholder: String
  /// The format of the summary of a group.
  open private(set) var categorySummaryFormat: String

  /// A category with texts for hidden bodies and for the summary of a group.
  public init(
    identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
    hiddenPreviewsBodyPlaceholder: String?, categorySummaryFormat: String?,
    options: UNNotificationCategoryOptions = []
  ) {
    self.identifier = identifier
    self.actions = actions
    self.intentIdentifiers = intentIdentifiers
    self.options = options
    self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder ?? ""
    self.categorySummaryFormat = categorySummaryFormat ?? ""
  }

  /// A category with a text for hidden bodies.
  public convenience init(
    identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
    hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
  ) {
    self.init(
      identifier: identifier, actions: actions, intentIdentifiers: intentIdentifiers,
      hiddenPreviewsBodyPlaceholder: hiddenPreviewsBodyPlaceholder, categorySummaryFormat: nil,
      options: options)
  }

  /// A category without further texts.
  public convenience init(
    identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
    options: UNNotificationCategoryOptions = []
  ) {
    self.init(
      identifier: identifier, actions: actions, intentIdentifiers: intentIdentifiers,
      hiddenPreviewsBodyPlaceholder: nil, categorySummaryFormat: nil, options: options)
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationCategory else { return false }
    return identifier == other.identifier && actions == other.actions
      && intentIdentifiers == other.intentIdentifiers && options == other.options
      && hiddenPreviewsBodyPlaceholder == other.hiddenPreviewsBodyPlaceholder
      && categorySummaryFormat == other.categorySummaryFormat
  }

  open override var hash: Int { identifier.hashValue }
}

/// The behavior of a category.
public struct UNNotificationCategoryOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  /// The options whose bits are set.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The delegate receives dismissals.
  public static let customDismissAction = UNNotificationCategoryOptions(rawValue: 1 << 0)
  /// Shown in CarPlay.
  public static let allowInCarPlay = UNNotificationCategoryOptions(rawValue: 1 << 1)
  /// The title is shown although previews are hidden.
  public static let hiddenPreviewsShowTitle = UNNotificationCategoryOptions(rawValue: 1 << 2)
  /// The subtitle is shown although previews are hidden.
  public static let hiddenPreviewsShowSubtitle = UNNotificationCategoryOptions(rawValue: 1 << 3)
  /// Read out by the system.
  public static let allowAnnouncement = UNNotificationCategoryOptions(rawValue: 1 << 4)
}

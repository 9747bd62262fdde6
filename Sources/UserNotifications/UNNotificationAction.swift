// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A choice that a notification offers to the user.
open class UNNotificationAction: NSObject, NSCopying {
  /// The app's identifier of the action, which the response contains.
  open private(set) var identifier: String
  /// The text of the button.
  open private(set) var title: String
  /// The behavior of the action.
  open private(set) var options: UNNotificationActionOptions
  /// The icon of the button.
  open private(set) var icon: UNNotificationActionIcon?

  /// An action without an icon.
  public convenience init(
    identifier: String, title: String, options: UNNotificationActionOptions = []
  ) {
    self.init(identifier: identifier, title: title, options: options, icon: nil)
  }

  /// An action with an icon.
  public init(
    identifier: String, title: String, options: UNNotificationActionOptions = [],
    icon: UNNotificationActionIcon?
  ) {
    self.identifier = identifier
    self.title = title
    self.options = options
    self.icon = icon
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? UNNotificationAction)?.value == value
  }

  open override var hash: Int { value.hashValue }

  /// The action as the sink sees it.
  var value: UserNoticeAction {
    UserNoticeAction(
      identifier: identifier, title: title, options: options, iconName: icon?.name, textInput: nil)
  }
}

/// An action with a field for text. The response is a `UNTextInputNotificationResponse`.
open class UNTextInputNotificationAction: UNNotificationAction {
  /// The text of the button that sends the text.
  open private(set) var textInputButtonTitle: String
  /// The text of the empty field.
  open private(set) var textInputPlaceholder: String

  /// An action without an icon.
  public convenience init(
    identifier: String, title: String, options: UNNotificationActionOptions = [],
    textInputButtonTitle: String, textInputPlaceholder: String
  ) {
    self.init(
      identifier: identifier, title: title, options: options, icon: nil,
      textInputButtonTitle: textInputButtonTitle, textInputPlaceholder: textInputPlaceholder)
  }

  /// An action with an icon.
  public init(
    identifier: String, title: String, options: UNNotificationActionOptions = [],
    icon: UNNotificationActionIcon?, textInputButtonTitle: String, textInputPlaceholder: String
  ) {
    self.textInputButtonTitle = textInputButtonTitle
    self.textInputPlaceholder = textInputPlaceholder
    super.init(identifier: identifier, title: title, options: options, icon: icon)
  }

  override var value: UserNoticeAction {
    UserNoticeAction(
      identifier: identifier, title: title, options: options, iconName: icon?.name,
      textInput: .init(buttonTitle: textInputButtonTitle, placeholder: textInputPlaceholder))
  }
}

/// The behavior of an action.
public struct UNNotificationActionOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  /// The options whose bits are set.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The user must unlock the phone first.
  public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1 << 0)
  /// The action deletes something; the button warns.
  public static let destructive = UNNotificationActionOptions(rawValue: 1 << 1)
  /// The app comes to the foreground; otherwise it runs in the background.
  public static let foreground = UNNotificationActionOptions(rawValue: 1 << 2)
}

/// The icon of an action.
open class UNNotificationActionIcon: NSObject, NSCopying {
  let name: String

  /// The image `templateImageName` of the app.
  public init(templateImageName: String) {
    name = templateImageName
  }

  /// The image `systemImageName` of the system.
  public init(systemImageName: String) {
    name = systemImageName
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? UNNotificationActionIcon)?.name == name
  }

  open override var hash: Int { name.hashValue }
}

import Foundation

/// A notification as the sink sees it.
public struct UserNotice: Hashable, Sendable {
  /// The app's name for it.
  public let identifier: String
  /// The first line; may be empty.
  public let title: String
  /// The second line; may be empty.
  public let subtitle: String
  /// The text; may be empty.
  public let body: String
  /// The number on the app's icon; nil leaves it as it is.
  public let badge: Int?
  /// Whether there is a sound.
  public let hasSound: Bool
  /// How long it waits, in seconds; nil is shown at once.
  public let delay: TimeInterval?
  /// Whether it is shown again each time that `delay` has passed.
  public let repeats: Bool
}

extension UserNotice {
  init(_ request: UNNotificationRequest) {
    let (content, trigger) = (
      request.content, request.trigger as? UNTimeIntervalNotificationTrigger
    )
    self.init(
      identifier: request.identifier, title: content.title, subtitle: content.subtitle,
      body: content.body, badge: content.badge?.intValue, hasSound: content.sound != nil,
      delay: trigger?.timeInterval, repeats: trigger?.repeats ?? false)
  }

  var request: UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = title
    content.subtitle = subtitle
    content.body = body
    content.badge = badge.map { NSNumber(value: $0) }
    content.sound = hasSound ? .default : nil
    let trigger = delay.map {
      UNTimeIntervalNotificationTrigger(timeInterval: $0, repeats: repeats)
    }
    return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
  }
}

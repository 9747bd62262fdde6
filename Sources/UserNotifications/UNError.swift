import Foundation

/// Why a notification was not taken. On Linux an `NSError` does not bridge back, so pass on the value.
public struct UNError: Error, Hashable, Sendable {
  /// Which of Apple's errors it is.
  public let code: Code

  /// An error of this code.
  public init(_ code: Code) {
    self.code = code
  }

  /// `UNErrorDomain`.
  public static var errorDomain: String { "UNErrorDomain" }
  /// The person does not allow notifications.
  public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
  /// There is nothing to show.
  public static var notificationInvalidNoContent: Code { .notificationInvalidNoContent }
}

extension UNError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: sentence] }
  public var errorDescription: String? { sentence }

  private var sentence: String {
    switch code {
    case .notificationsNotAllowed:
      "Notifications are not allowed; ask with requestAuthorization, or install a UserNotificationSink."
    case .notificationInvalidNoContent:
      "The notification shows nothing; give it a title, a body, a badge or a sound."
    }
  }
}

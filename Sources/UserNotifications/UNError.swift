import Foundation

/// The reason why a notification is rejected. On Linux an `NSError` does not bridge back, so pass on
/// the value.
public struct UNError: Error, Hashable, Sendable {
  /// The kind of error.
  public let code: Code

  /// An error of this code.
  public init(_ code: Code) {
    self.code = code
  }

  /// `UNErrorDomain`.
  public static var errorDomain: String { "UNErrorDomain" }
  /// The user does not allow notifications.
  public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
  /// There is nothing to show.
  public static var notificationInvalidNoContent: Code { .notificationInvalidNoContent }
}

extension UNError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
  public var errorDescription: String? { message }

  private var message: String {
    switch code {
    case .notificationsNotAllowed:
      "Notifications are not allowed; call requestAuthorization or install a UserNotificationSink."
    case .notificationInvalidNoContent:
      "The notification has no content; give it a title, a body, a badge or a sound."
    }
  }
}

extension UNError {
  /// The error codes that occur here, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// The user does not allow notifications.
    case notificationsNotAllowed = 1
    /// There is nothing to show.
    case notificationInvalidNoContent = 1401
  }
}

extension UNError.Code {
  /// Lets `catch UNError.notificationsNotAllowed` match.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? UNError)?.code == code
  }
}

extension UNError {
  /// Those of Apple's error codes that occur here, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// The person does not allow notifications.
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

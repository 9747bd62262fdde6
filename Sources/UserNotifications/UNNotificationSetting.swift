/// Whether one way of telling the person is open.
public enum UNNotificationSetting: Int, Sendable {
  /// There is no such way here.
  case notSupported = 0
  /// The person has closed it.
  case disabled = 1
  /// It is open.
  case enabled = 2
}

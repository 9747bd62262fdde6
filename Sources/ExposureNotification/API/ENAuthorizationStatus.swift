/// Whether the person lets this app use exposure notification.
@frozen public enum ENAuthorizationStatus: Int, Sendable {
  /// Never asked.
  case unknown = 0
  /// Not possible on this device, whatever the person says.
  case restricted = 1
  /// The person said no; only the system's settings can change it.
  case notAuthorized = 2
  /// The person said yes.
  case authorized = 3
}

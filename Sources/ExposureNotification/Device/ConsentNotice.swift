/// What the system tells the person in a notification of its own.
public enum ConsentNotice: Hashable, Sendable {
  /// The keys that were promised ahead of time have been handed to the app.
  case preAuthorizedKeysReleased
}

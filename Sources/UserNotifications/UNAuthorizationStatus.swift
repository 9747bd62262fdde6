/// Whether the person was asked about notifications, and the answer.
public enum UNAuthorizationStatus: Int, Sendable {
  /// Not asked yet.
  case notDetermined = 0
  /// No.
  case denied = 1
  /// Yes.
  case authorized = 2
  /// Quiet ones without having been asked.
  case provisional = 3
  /// For a short while.
  case ephemeral = 4
}

/// What the person has said, and whether exposure notification is switched on.
struct Permission: Equatable, Sendable {
  var authorization = ENAuthorizationStatus.unknown
  var isEnabled = false
  /// Whether the app may know that the person travelled.
  var showsTravel = false
  var preAuthorization: PreAuthorization?
}

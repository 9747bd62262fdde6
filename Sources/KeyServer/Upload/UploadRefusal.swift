/// Why an upload was refused. One case for each thing the phone can do about it.
///
/// Documentation/SeedContract.md 4.5.
enum UploadRefusal: Error, Hashable {
  /// Stop: the request breaks a rule, which the sentence names.
  case broken(String)
  /// Ask the person for a new PIN: no token, not a good one, not for these keys, or used up.
  case unauthenticated
  /// Stop: this app or region is not taken here.
  case notAllowed
  /// Stop: the device check failed.
  case deviceNotGenuine
  /// Try again later.
  case unavailable
}

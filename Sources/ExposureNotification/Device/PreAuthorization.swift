import Foundation

/// The person's word, given ahead of time, that the app may have the keys once.
///
/// Documentation/Framework.md 5.5.
struct PreAuthorization: Hashable, Codable, Sendable {
  /// When the person agreed.
  let given: Date
  /// Whether the keys have been handed out for it.
  var isUsed = false

  init(given: Date) {
    self.given = given
  }

  /// Whether it still counts at `now`. After a clock was set back it does not.
  func isValid(at now: Date) -> Bool {
    (0...DeviceLimit.preAuthorizationSeconds).contains(now.timeIntervalSince(given))
  }
}

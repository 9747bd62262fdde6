import Foundation

/// A code that is known, as the storage knows it.
struct LiveCode: Hashable, Sendable {
  var finding: Finding
  /// How it was used up, where it was.
  var redemption: Redemption?
  /// The mark of the nonce that has to come with it, where one has to.
  var nonceMark: Data?
  /// The last second at which the code that was asked for is good.
  var expiresAt: Date
  /// Whether the verification token that it gave has been exchanged for a certificate.
  var isExchanged = false

  /// Whether it is still good at `now`, as far as time goes; the last second counts.
  func isLive(at now: Date) -> Bool { now < expiresAt.addingTimeInterval(1) }
}

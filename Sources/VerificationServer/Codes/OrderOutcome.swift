import Foundation

/// What became of an order.
enum OrderOutcome: Sendable {
  case issued(NewCode)
  case handleTaken
  /// The phone reported not long ago; a code would have been good until then.
  case phoneBusy(expiresAt: Date)
}

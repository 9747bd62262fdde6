import Foundation

/// What became of a code that was issued.
struct CodeFate: Hashable, Sendable {
  var isClaimed: Bool
  var expiresAt: Date
  var longExpiresAt: Date
  /// The API key it was issued under.
  var issuer: ApiKeyID?
}

extension CodeFate {
  /// The fate of the code once it was ended: with the second before `now`, unless it ended before.
  func ended(before now: Date) -> CodeFate {
    let end = Date(unixSecond: now.unixSecond - 1)
    var copy = self
    copy.expiresAt = min(expiresAt, end)
    copy.longExpiresAt = min(longExpiresAt, end)
    return copy
  }
}

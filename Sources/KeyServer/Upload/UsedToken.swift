import Foundation
import UploadToken

/// How long the key server remembers that a token is used.
enum UsedToken {
  /// A day longer than the token is good, for a clock may be set back. To the whole hour, since the
  /// expiry itself would tell the second in which a person typed in the code.
  static func keptUntil(_ grant: UploadGrant) -> Date {
    let end = grant.expiresAt.timeIntervalSince1970 + KeyServerLimit.clockSetBackSecondsMax
    let hours = (end / Embargo.coarseSeconds).rounded(.up)
    return Date(timeIntervalSince1970: hours * Embargo.coarseSeconds)
  }
}

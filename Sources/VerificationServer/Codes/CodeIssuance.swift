import Foundation
import VerificationAPI
import World

/// Issues codes: draws one that no live code equals, and keeps it under its hash only.
struct CodeIssuance: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let lifetime: TimeInterval
  let clock: any WallClock
  let randomness: any Randomness

  /// A new code that stands for `finding`.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` where it could not be kept.
  func code(for finding: Finding) async throws -> VerificationCode {
    let now = clock.now
    let expiresAt = now.addingTimeInterval(lifetime)
    for _ in 0..<VerificationLimit.drawsMax {
      let code = VerificationCode.drawn(from: randomness)
      let issued = IssuedCode(hash: keys.hash(of: code), finding: finding, expiresAt: expiresAt)
      if try await storage.issue(issued, at: now) { return code }
    }
    throw VerificationServerError.storageUnavailable
  }
}

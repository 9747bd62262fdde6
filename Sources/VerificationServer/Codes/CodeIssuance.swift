import Foundation
import VerificationAPI
import World

/// Issues codes: draws ones that no live code equals, and keeps them under their hashes only.
struct CodeIssuance: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let lifetime: TimeInterval
  var policy = CodePolicy()
  let clock: any WallClock
  let randomness: any Randomness

  /// A new PIN that stands for `finding`.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` where it could not be kept.
  func code(for finding: Finding) async throws -> VerificationCode {
    let codes = try await codes(1, for: finding, lifetime: lifetime)
    guard let code = codes.first else { throw VerificationServerError.storageUnavailable }
    return code
  }

  /// `count` new PINs that are good for `lifetime` seconds, no two alike, kept in one transaction
  /// unless a live code equals one of them.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` where not all could be kept.
  func codes(
    _ count: Int, for finding: Finding, lifetime: TimeInterval
  ) async throws -> [VerificationCode] {
    let now = clock.now
    var kept: [VerificationCode] = []
    for _ in 0..<VerificationLimit.drawsMax {
      let drawn = (kept.count..<count).map { _ in VerificationCode.drawn(from: randomness) }
      let outcomes = try await storage.issue(
        drawn.map {
          IssuedCode(
            hash: keys.hash(of: $0), finding: finding, expiresAt: now.addingTimeInterval(lifetime))
        }, at: now)
      kept += zip(drawn, outcomes).filter { $0.1 == .kept }.map(\.0)
      if kept.count == count { return kept }
    }
    throw VerificationServerError.storageUnavailable
  }

  /// A new short code, and a long one where the order wants a link.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` where it could not be kept.
  func issue(_ order: CodeOrder) async throws -> OrderOutcome {
    let now = clock.now
    let handle = order.handle ?? UUID(from: randomness)
    for _ in 0..<VerificationLimit.drawsMax {
      let digits = try await digits(at: now)
      guard let short = ShortCode.drawn(digits: digits, from: randomness) else { break }
      let long =
        order.wantsLink
        ? LongCode.drawn(count: policy.longCodeCharacters, from: randomness) : nil
      let code = kept(order, handle: handle, short: short, long: long, at: now)
      switch try await storage.issue([code], at: now).first {
      case .kept: return .issued(NewCode(handle: handle, short: short, long: long, kept: code))
      case .handleTaken: return .handleTaken
      case .phoneBusy: return .phoneBusy(expiresAt: code.expiresAt)
      case .codeTaken, nil: continue
      }
    }
    throw VerificationServerError.storageUnavailable
  }

  private func kept(
    _ order: CodeOrder, handle: UUID, short: ShortCode, long: LongCode?, at now: Date
  ) -> IssuedCode {
    var code = IssuedCode(
      hash: keys.hash(of: short), finding: order.finding,
      expiresAt: now.addingTimeInterval(policy.shortCodeLifetime))
    if let long {
      code.longHash = keys.hash(of: long)
      code.longExpiresAt = now.addingTimeInterval(policy.longCodeLifetime)
    }
    code.handle = handle
    code.issuer = order.issuer
    code.nonceMark = order.nonce.map { keys.mark(of: $0, as: .nonce) }
    code.phoneMark = order.reportingPhone.map { keys.mark(of: Data($0.utf8), as: .phone) }
    return code
  }

  /// How many digits a short code needs now: as the policy says, and more where so many codes are live
  /// that one guess in `guessesPerCodeMin` would hit one.
  private func digits(at now: Date) async throws -> Int {
    let live = try await storage.liveCount(
      at: now, atMost: VerificationLimit.liveCountMax)
    let needed = (live + 1) * VerificationLimit.guessesPerCodeMin
    var (digits, space) = (0, 1)
    while space < needed { (digits, space) = (digits + 1, space * 10) }
    return min(max(digits, policy.shortCodeDigits), ShortCode.digitCounts.upperBound)
  }
}

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

/// What a code of Google's contract is to be.
struct CodeOrder: Sendable {
  var finding: Finding
  /// The name the asker wants to find it by.
  var handle: UUID?
  /// The API key it is issued under.
  var issuer: ApiKeyID?
  /// Whether a long code goes into a link.
  var wantsLink = false
  /// What has to come with the code, for a user report.
  var nonce: Data?
  /// The phone that reports a test of its own.
  var reportingPhone: String?

  /// The order as one that came with `key`.
  func issued(under key: ApiKeyID?) -> CodeOrder {
    var order = self
    order.issuer = key
    return order
  }
}

/// What became of an order.
enum OrderOutcome: Sendable {
  case issued(NewCode)
  case handleTaken
  /// The phone reported not long ago; a code would have been good until then.
  case phoneBusy(expiresAt: Date)
}

/// A code in the one moment in which its characters are known.
struct NewCode: Sendable {
  let handle: UUID
  let short: ShortCode
  let long: LongCode?
  let kept: IssuedCode
}

extension VerificationCode {
  /// A code drawn from `randomness`, each equally likely.
  ///
  /// Documentation/SeedContract.md 2.1. Of all draws of six characters 86 in 100 are codes; the rest
  /// lack a digit or a letter and are drawn again.
  static func drawn(from randomness: any Randomness) -> VerificationCode {
    while true {
      let text = randomness.text(of: alphabet, characterCount)
      if let code = VerificationCode(text) { return code }
    }
  }
}

extension ShortCode {
  /// A code of `digits` digits, each equally likely; nil where there is no such length.
  static func drawn(digits: Int, from randomness: any Randomness) -> ShortCode? {
    ShortCode(randomness.text(of: Array("0123456789"), digits))
  }
}

extension LongCode {
  /// A code of `count` characters, each equally likely; nil where there is no such length.
  static func drawn(count: Int, from randomness: any Randomness) -> LongCode? {
    LongCode(randomness.text(of: alphabet, count))
  }
}

extension Randomness {
  fileprivate func text(of alphabet: [Character], _ count: Int) -> String {
    String((0..<count).map { _ in alphabet[number(in: 0...alphabet.count - 1)] })
  }
}

extension UUID {
  /// A random UUID (RFC 9562, version 4) from the randomness handed in.
  init(from randomness: any Randomness) {
    self.init(bytes: randomness.bytes(16), version: 0x40)
  }

  /// A UUID made of sixteen bytes that are secret to whoever cannot compute them (version 8).
  init(mark: Data) {
    self.init(bytes: Array(mark.prefix(16)), version: 0x80)
  }

  private init(bytes: [UInt8], version: UInt8) {
    var bytes = bytes + [UInt8](repeating: 0, count: max(0, 16 - bytes.count))
    bytes[6] = bytes[6] & 0x0F | version
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.init(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
        bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }

  /// In lower case, as both contracts write it.
  var text: String { uuidString.lowercased() }
}

import Crypto
import Foundation

/// A code that is to be kept: by then only hashes are left of it.
struct IssuedCode: Hashable, Sendable {
  /// The code that is told: a PIN, or the short code.
  var hash: CodeHash
  var finding: Finding
  /// The last moment at which that one is good.
  var expiresAt: Date
  /// The code in the link, where there is one.
  var longHash: CodeHash?
  /// The last moment at which the link is good; without a link, that of the other.
  var longExpiresAt: Date
  /// The name under which its fate can be asked for, where it has one.
  var handle: UUID?
  /// The API key it was issued under, where it was one.
  var issuer: ApiKeyID?
  /// The mark of the nonce that has to come with it, where one has to.
  var nonceMark: Data?
  /// The phone that reported, where it was a phone.
  var phoneMark: Data?

  init(hash: CodeHash, finding: Finding, expiresAt: Date) {
    self.hash = hash
    self.finding = finding
    self.expiresAt = expiresAt
    longExpiresAt = expiresAt
  }
}

/// What became of a code that was to be kept.
enum IssueOutcome: Hashable, Sendable {
  case kept
  /// A live code has one of its hashes: draw another.
  case codeTaken
  /// A code has its handle.
  case handleTaken
  /// The phone reported not long ago.
  case phoneBusy
}

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

/// That a phone reported a test of its own, and how long it waits before the next report.
///
/// Documentation/VerificationServer.md 3.8.
struct PhoneReport: Hashable, Sendable {
  /// The mark of its number.
  let phoneMark: Data
  /// When it may report again, in whole seconds.
  private(set) var freeAt: Date
  /// When it may once its code has been used.
  let freeAtWhenClaimed: Date

  init(phoneMark: Data, freeAt: Date, freeAtWhenClaimed: Date) {
    self.phoneMark = phoneMark
    self.freeAt = freeAt
    self.freeAtWhenClaimed = freeAtWhenClaimed
  }

  /// A report of `now`.
  init(phoneMark: Data, at now: Date) {
    let second = Date(unixSecond: now.unixSecond)
    self.init(
      phoneMark: phoneMark,
      freeAt: second.addingTimeInterval(VerificationLimit.reportUnclaimedSeconds),
      freeAtWhenClaimed: second.addingTimeInterval(VerificationLimit.reportAgainSeconds))
  }

  /// The report of a phone whose code was used: it waits longer.
  var claimed: PhoneReport {
    var copy = self
    copy.freeAt = freeAtWhenClaimed
    return copy
  }

  /// Whether the phone has to wait at `now`.
  func isBusy(at now: Date) -> Bool { Date(unixSecond: now.unixSecond) < freeAt }
}

/// How a code was used up: by whom, and for which token.
struct Redemption: Hashable, Sendable {
  /// The mark of the asker: `CodeKeys.binding`.
  var binding: Data
  /// The token's text, sealed under a key that only the code opens.
  var sealedToken: SealedToken
  /// The mark of the token's name, where it is one that is exchanged here.
  var tokenMark: Data?
}

/// A token that was issued, kept so that a lost answer can be given again.
///
/// AES-256-GCM under a key derived from the server's secret and the code, with the code's hash as
/// associated data. Whoever reads the database alone cannot open it, and whoever also holds the
/// secret must still guess the code. Documentation/Decisions/0005-token-kept-sealed.md.
struct SealedToken: Hashable, Sendable {
  /// Nonce, ciphertext and tag.
  let bytes: Data

  /// What the storage kept.
  init(bytes: Data) {
    self.bytes = bytes
  }

  /// Seals `token`. The nonce comes from `nonce`, twelve fresh random bytes.
  init(_ token: String, for code: some WrittenCode, keys: CodeKeys, nonce: [UInt8]) throws {
    let box = try AES.GCM.seal(
      Data(token.utf8), using: keys.tokenKey(for: code), nonce: AES.GCM.Nonce(data: nonce),
      authenticating: keys.hash(of: code).bytes)
    bytes = Data(box.nonce) + box.ciphertext + box.tag
  }

  /// The token's text.
  ///
  /// - Throws: where the bytes were changed or belong to another code.
  func text(for code: some WrittenCode, keys: CodeKeys) throws -> String {
    let box = try AES.GCM.SealedBox(combined: bytes)
    let text = try AES.GCM.open(
      box, using: keys.tokenKey(for: code), authenticating: keys.hash(of: code).bytes)
    return String(decoding: text, as: UTF8.self)
  }

  /// The size of a nonce, in bytes.
  static let nonceBytes = 12
}

extension SealedToken: CustomStringConvertible, CustomReflectable {
  var description: String { "SealedToken" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

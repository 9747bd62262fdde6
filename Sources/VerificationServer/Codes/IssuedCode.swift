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

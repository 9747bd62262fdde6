import Crypto
import Foundation
import UploadToken
import VerificationAPI
import World

/// Gives the verification token that a code is good for: once, and again to the same asker until the
/// token has been exchanged.
///
/// Documentation/VerificationServer.md 2.2. As in the seed contract the token is signed first and the code used up
/// afterwards, with the token, in one transaction: a signing failure spends nothing.
struct CodeVerification: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: SigningKeyring
  let tokenLifetime: TimeInterval
  let clock: any WallClock
  let randomness: any Randomness

  /// What a code turned out to be.
  enum Outcome: Sendable {
    /// Good: what was found, and the token's text.
    case verified(Finding, token: String)
    /// Unknown, used, or without the nonce that belongs to it.
    case invalid
    /// Known, not used, and too old.
    case expired
    /// Of a kind that the app cannot deal with; it was not used.
    case unsupported
  }

  /// What `code` turns out to be for an app that accepts `accepted`.
  ///
  /// - Throws: `VerificationServerError` where nothing could be signed or kept; the code stays good.
  func verify(
    _ code: any WrittenCode, accepted: Set<TestType>, nonce: Data?
  ) async throws -> Outcome {
    let now = clock.now
    let hash = keys.hash(of: code)
    guard let known = try await storage.code(hash), mayUse(known, nonce: nonce) else {
      return .invalid
    }
    guard known.isLive(at: now) else {
      return known.redemption == nil ? .expired : .invalid
    }
    guard accepted.contains(known.finding.testType) else { return .unsupported }
    let binding = keys.verifyBinding(of: nonce, to: hash)
    let earlier = known.redemption
    let offered = try earlier ?? offer(code, finding: known.finding, binding: binding, at: now)
    let held = earlier == nil ? try await storage.redeem(hash, as: offered, at: now) : earlier
    guard let held, !known.isExchanged, held.tokenMark != nil,
      SymmetricKey(data: held.binding) == SymmetricKey(data: binding)
    else { return .invalid }
    return .verified(known.finding, token: try held.sealedToken.text(for: code, keys: keys))
  }

  /// Whether the nonce is there that belongs to the code, where one does.
  private func mayUse(_ code: LiveCode, nonce: Data?) -> Bool {
    guard let mark = code.nonceMark else { return true }
    let shown = keys.mark(of: nonce ?? Data(), as: .nonce)
    return SymmetricKey(data: shown) == SymmetricKey(data: mark)
  }

  /// A signed and sealed token that is not issued yet.
  private func offer(
    _ code: any WrittenCode, finding: Finding, binding: Data, at now: Date
  ) throws -> Redemption {
    let token = VerificationToken(
      tokenID: UUID(from: randomness).text, finding: finding, issuedAt: now,
      expiresAt: now.addingTimeInterval(tokenLifetime))
    do {
      let text = try CompactToken.text(
        token.claims(issuer: signing.issuer), signedBy: signing.keys().signing(at: now))
      let nonce = randomness.bytes(SealedToken.nonceBytes)
      return Redemption(
        binding: binding,
        sealedToken: try SealedToken(text, for: code, keys: keys, nonce: nonce),
        tokenMark: keys.mark(of: Data(token.tokenID.utf8), as: .tokenID))
    } catch {
      throw VerificationServerError.signingUnavailable
    }
  }
}

/// What a verification token says: that a code of this finding was verified here. It is good for one
/// certificate and for nothing else; its audience is the issuer itself.
///
/// Documentation/VerificationServer.md 2.4.
struct VerificationToken: Hashable, Sendable {
  /// Claim `jti`.
  var tokenID: String
  var finding: Finding
  var issuedAt: Date
  /// The first second at which it is no longer good.
  var expiresAt: Date

  /// The claims as they stand on the wire.
  struct Claims: Codable {
    var iss: String
    var aud: String
    var iat: Int64
    var exp: Int64
    var jti: String
    var sub: String
  }

  init(tokenID: String, finding: Finding, issuedAt: Date, expiresAt: Date) {
    self.tokenID = tokenID
    self.finding = finding
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
  }

  func claims(issuer: String) -> Claims {
    let subject = [finding.testType.rawValue, finding.symptomDay?.text, finding.testDay?.text]
    return Claims(
      iss: issuer, aud: issuer, iat: issuedAt.unixSecond, exp: expiresAt.unixSecond, jti: tokenID,
      sub: subject.map { $0 ?? "" }.joined(separator: "."))
  }

  /// What the claims say; nil where they are not those of a token that `issuer` made for itself.
  init?(_ claims: Claims, issuer: String) {
    guard claims.iss == issuer, claims.aud == issuer, !claims.jti.isEmpty else { return nil }
    let parts = claims.sub.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let testType = TestType(rawValue: parts[0]) else { return nil }
    tokenID = claims.jti
    finding = Finding(
      testType: testType, symptomDay: CalendarDay(parts[1]), testDay: CalendarDay(parts[2]))
    issuedAt = Date(unixSecond: claims.iat)
    expiresAt = Date(unixSecond: claims.exp)
  }
}

extension VerificationToken: CustomStringConvertible, CustomReflectable {
  var description: String { "VerificationToken(\(finding.reportType))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import UploadToken
import VerificationAPI
import World

/// Exchanges a code for a verification token: once, and again for the same client until the token has
/// been exchanged for a certificate.
///
/// The token is signed first. Then the code is marked as used and the token stored in one transaction, so
/// that a signing error leaves the code unused.
struct CodeVerifier: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: SigningKeyring
  let tokenLifetime: TimeInterval
  let clock: any WallClock
  let randomness: any Randomness

  /// The result of verifying a code.
  enum Outcome: Sendable {
    /// The code is valid. `isFirst` is false if the same client repeats a request.
    case verified(TestResult, token: String, isFirst: Bool)
    /// The code is unknown or used.
    case invalid
    /// The code of a user report is valid, and its nonce is missing or wrong.
    case invalidNonce
    /// The code has expired and was not used.
    case expired
    /// The app does not support this kind of test; the code stays unused.
    case unsupported
  }

  /// Verifies `code` for an app that accepts the kinds of test in `accepted`.
  ///
  /// - Throws: `VerificationServerError` if nothing could be signed or stored; the code stays unused.
  func verify(
    _ code: any EnteredCode, accepted: Set<TestType>, nonce: Data?
  ) async throws -> Outcome {
    let now = clock.now
    // Certificates have no mark of the canary, which uses the ProteGO Safe contract.
    guard let (code, hash, known) = try await stored(code), !known.isCanary else {
      return .invalid
    }
    guard mayUse(known, nonce: nonce) else {
      return known.isLive(at: now) && known.redemption == nil ? .invalidNonce : .invalid
    }
    guard known.isLive(at: now) else {
      return known.redemption == nil ? .expired : .invalid
    }
    guard accepted.contains(known.testResult.testType) else { return .unsupported }
    let binding = keys.verifyBinding(of: nonce, to: hash)
    let earlier = known.redemption
    let offered =
      if let earlier {
        earlier
      } else {
        try await offer(code, testResult: known.testResult, binding: binding, at: now)
      }
    let valid = earlier == nil ? try await storage.redeem(hash, as: offered, at: now) : earlier
    guard let valid, !known.isExchanged, valid.tokenIDHash != nil,
      isEqualInConstantTime(valid.binding, binding)
    else { return .invalid }
    return .verified(
      known.testResult, token: try valid.sealedToken.text(for: code, keys: keys),
      isFirst: earlier == nil
        && isEqualInConstantTime(valid.sealedToken.bytes, offered.sealedToken.bytes))
  }

  /// The first reading of the typed code that is stored.
  private func stored(
    _ typed: any EnteredCode
  ) async throws -> (any EnteredCode, CodeHash, StoredCode)? {
    for code in typed.typedReadings {
      let hash = keys.hash(of: code)
      if let known = try await storage.code(hash) { return (code, hash, known) }
    }
    return nil
  }

  /// Returns true if the code needs no nonce, or `nonce` is the right one.
  private func mayUse(_ code: StoredCode, nonce: Data?) -> Bool {
    guard let hash = code.nonceHash else { return true }
    return isEqualInConstantTime(keys.hash(of: nonce ?? Data(), for: .nonce), hash)
  }

  /// Signs and encrypts a token that is not stored yet.
  private func offer(
    _ code: any EnteredCode, testResult: TestResult, binding: Data, at now: Date
  ) async throws -> Redemption {
    let token = VerificationToken(
      tokenID: UUID(from: randomness).text, testResult: testResult, issuedAt: now,
      expiresAt: now.addingTimeInterval(tokenLifetime))
    do {
      let claims = token.claims(issuer: signing.issuer)
      let text = try await signing.text(id: token.tokenID, at: now) {
        try CompactToken.text(claims, signedBy: $0.signing(at: now))
      }
      let nonce = randomness.bytes(SealedToken.nonceBytes)
      return Redemption(
        binding: binding,
        sealedToken: try SealedToken(text, for: code, keys: keys, nonce: nonce),
        tokenIDHash: keys.hash(of: Data(token.tokenID.utf8), for: .tokenID))
    } catch {
      throw VerificationServerError.ofSignature(error)
    }
  }
}

/// The content of a verification token, which states that a code with this test result was verified.
///
/// Its audience is its issuer, so that no key server accepts it. It is valid for one certificate.
struct VerificationToken: Hashable, Sendable {
  /// Claim `jti`.
  var tokenID: String
  var testResult: TestResult
  var issuedAt: Date
  /// The first second at which it is no longer valid.
  var expiresAt: Date

  /// The claims in JSON.
  struct Claims: Codable, Sendable {
    var iss: String
    var aud: String
    var iat: Int64
    var exp: Int64
    var jti: String
    var sub: String
  }

  init(tokenID: String, testResult: TestResult, issuedAt: Date, expiresAt: Date) {
    self.tokenID = tokenID
    self.testResult = testResult
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
  }

  func claims(issuer: String) -> Claims {
    let subject = [
      testResult.testType.rawValue, testResult.symptomDay?.text, testResult.testDay?.text,
    ]
    return Claims(
      iss: issuer, aud: issuer, iat: issuedAt.unixSecond, exp: expiresAt.unixSecond, jti: tokenID,
      sub: subject.map { $0 ?? "" }.joined(separator: "."))
  }

  /// Returns nil if `issuer` did not make the claims for itself.
  init?(_ claims: Claims, issuer: String) {
    let moments = 0...UploadTokenLimit.unixSecondsMax
    guard claims.iss == issuer, claims.aud == issuer, !claims.jti.isEmpty,
      moments.contains(claims.iat), moments.contains(claims.exp)
    else { return nil }
    let parts = claims.sub.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let testType = TestType(rawValue: parts[0]) else { return nil }
    tokenID = claims.jti
    testResult = TestResult(
      testType: testType, symptomDay: CalendarDay(parts[1]), testDay: CalendarDay(parts[2]))
    issuedAt = Date(unixSecond: claims.iat)
    expiresAt = Date(unixSecond: claims.exp)
  }
}

extension VerificationToken: Redacted {
  var description: String { "VerificationToken(\(testResult.reportType))" }
}

/// Exchanges a verification token for a certificate over one set of keys.
///
/// The certificate is signed first and the token is marked as exchanged afterwards. A retry for the same
/// keys gets a certificate with the same `jti` and a new time, because the first response may have been
/// lost for longer than a certificate is valid.
struct CertificateExchange: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: SigningKeyring
  let certificateLifetime: TimeInterval
  let clock: any WallClock

  /// The result of an exchange.
  enum Outcome: Sendable {
    /// The certificate, a compact JSON Web Token. `isFirst` is false if the request is repeated for the same keys.
    case certified(String, TestType, isFirst: Bool)
    /// The token was not issued by this server.
    case invalid
    /// The token has expired, or was exchanged for other keys.
    case expired
  }

  /// Exchanges `token` for a certificate over the keys with `keyHMAC`.
  ///
  /// - Throws: `VerificationServerError` if nothing could be signed or stored; the token stays unused.
  func certificate(for token: String, keyHMAC: Data) async throws -> Outcome {
    let now = clock.now
    guard let token = verified(token, at: now) else { return .invalid }
    guard now < token.expiresAt else { return .expired }
    let name = Data(token.tokenID.utf8)
    let text = try await signed(token, name: name, keyHMAC: keyHMAC, at: now)
    let offered = TokenExchange(
      tokenIDHash: keys.hash(of: name, for: .tokenID),
      binding: keys.hash(of: name + keyHMAC, for: .exchange), expiresAt: token.expiresAt)
    let earlier = try await storage.exchange(offered, at: now)
    let isSame = isEqualInConstantTime((earlier ?? offered).binding, offered.binding)
    return isSame
      ? .certified(text, token.testResult.testType, isFirst: earlier == nil) : .expired
  }

  /// Verifies the signature and the issuer, not the expiry.
  private func verified(_ text: String, at now: Date) -> VerificationToken? {
    do throws(UploadTokenRefusal) {
      let signed = try CompactToken(text)
      guard let key = signing.keys().verifying(at: now)[signed.keyID] else { return nil }
      let claims = try signed.claims(VerificationToken.Claims.self, signedBy: key)
      return VerificationToken(claims, issuer: signing.issuer)
    } catch {
      return nil
    }
  }

  private func signed(
    _ token: VerificationToken, name: Data, keyHMAC: Data, at now: Date
  ) async throws -> String {
    let certificate = VerificationCertificate(
      certificateID: UUID(hash: keys.hash(of: name, for: .certificateID)).text,
      issuedAt: now.addingTimeInterval(-VerificationLimit.certificateSkewSeconds),
      expiresAt: now.addingTimeInterval(certificateLifetime),
      reportType: token.testResult.reportType,
      symptomOnsetInterval: token.testResult.symptomOnsetInterval, keyHMAC: keyHMAC)
    do {
      let (issuer, audience) = (signing.issuer, signing.audience)
      // Its own budget: the token with this ID was signed before.
      return try await signing.text(id: "certificate of \(token.tokenID)", at: now) {
        try CertificateIssuer(keys: $0, issuer: issuer, audience: audience)
          .text(of: certificate, at: now)
      }
    } catch {
      throw VerificationServerError.ofSignature(error)
    }
  }
}

/// The exchange of a verification token for a certificate; the token itself is not stored.
struct TokenExchange: Hashable, Sendable {
  /// The keyed hash of the token's ID.
  var tokenIDHash: Data
  /// The keyed hash of the HMAC over the keys of the certificate.
  var binding: Data
  /// The expiry of the token; after it the exchange can be removed.
  var expiresAt: Date
}

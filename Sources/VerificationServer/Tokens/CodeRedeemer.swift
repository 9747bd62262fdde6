// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import Secrets
import Synchronization
import UploadToken
import VerificationAPI
import World

/// Exchanges a PIN or a short code for an upload token: once, and again for the same client.
///
/// The token is signed first. Then the code is marked as used and the token stored in one transaction. An
/// error before that leaves the code unused; a response lost after it can be requested again.
struct CodeRedeemer: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: any TokenSigning
  let tokenLifetime: TimeInterval
  let clock: any WallClock
  let randomness: any Randomness

  /// Returns the token of `code`, or nil if the code is unknown, expired or used by another client.
  ///
  /// - Throws: `VerificationServerError` if nothing could be signed or stored; the code stays unused.
  func token(for code: any EnteredCode, keyHMAC: Data?) async throws -> String? {
    for reading in code.typedReadings {
      if let token = try await token(forExactly: reading, keyHMAC: keyHMAC) { return token }
    }
    return nil
  }

  private func token(forExactly code: any EnteredCode, keyHMAC: Data?) async throws -> String? {
    let now = clock.now
    let hash = keys.hash(of: code)
    let binding = keys.binding(of: keyHMAC, to: hash)
    guard let live = try await storage.liveCode(hash, at: now), live.nonceHash == nil,
      Self.testTypes.contains(live.testResult.testType)
    else { return nil }
    guard
      let valid = try await redemption(
        of: live, hash: hash, at: now,
        by: {
          try await offer(
            code, testResult: live.testResult, keyHMAC: keyHMAC, binding: binding, at: now)
        })
    else { return nil }
    guard isEqualInConstantTime(valid.binding, binding) else { return nil }
    return try valid.sealedToken.text(for: code, keys: keys)
  }

  /// The tests whose keys an app of the ProteGO Safe contract may upload: laboratory tests and a doctor's diagnoses.
  private static let testTypes: Set<TestType> = [.confirmed, .likely]

  /// The redemption that is stored, from this request or an earlier one.
  private func redemption(
    of live: StoredCode, hash: CodeHash, at now: Date, by offer: () async throws -> Redemption
  ) async throws -> Redemption? {
    if let earlier = live.redemption { return earlier }
    return try await storage.redeem(hash, as: offer(), at: now)
  }

  /// Signs and encrypts a token that is not stored yet.
  private func offer(
    _ code: any EnteredCode, testResult: TestResult, keyHMAC: Data?, binding: Data, at now: Date
  ) async throws -> Redemption {
    let grant = UploadGrant(
      tokenID: UUID(from: randomness).text, issuedAt: now,
      expiresAt: now.addingTimeInterval(tokenLifetime),
      reportType: testResult.reportType, symptomOnsetInterval: testResult.symptomOnsetInterval,
      keyHMAC: keyHMAC)
    do {
      let token = try await signing.token(for: grant)
      let nonce = randomness.bytes(SealedToken.nonceBytes)
      return Redemption(
        binding: binding,
        sealedToken: try SealedToken(token, for: code, keys: keys, nonce: nonce))
    } catch {
      throw VerificationServerError.signingUnavailable
    }
  }
}

/// A signer of upload tokens, which may fail.
protocol TokenSigning: Sendable {
  /// Returns a signed token with the content of `grant`.
  func token(for grant: UploadGrant) async throws -> String
}

/// The current signing keys, read again periodically so that keys can change while the server runs.
///
/// If reading fails, the keys that were read last stay in use.
final class SigningKeyring: TokenSigning, Sendable {
  /// The claim `iss` of tokens and certificates.
  let issuer: String
  /// The claim `aud` of upload tokens and certificates.
  let audience: String

  private let read: (@Sendable () throws -> SigningKeys)?
  private let clock: any WallClock
  private let logger: Logger
  private let latest: Mutex<(keys: SigningKeys, readAt: Date)>

  init(
    _ configured: UploadTokenIssuer, read: (@Sendable () throws -> SigningKeys)?,
    clock: any WallClock, logger: Logger
  ) {
    issuer = configured.issuer
    audience = configured.audience
    self.read = read
    self.clock = clock
    self.logger = logger
    latest = Mutex((configured.keys, clock.now))
  }

  /// Returns the keys, at most `VerificationLimit.signingKeysAgeSecondsMax` old.
  func keys() -> SigningKeys {
    let now = clock.now
    guard let read, isOld(at: now) else { return latest.withLock { $0.keys } }
    do {
      let new = try read()
      latest.withLock { $0 = (new, now) }
    } catch {
      logger.warning(
        "reading the signing keys failed: the previous keys stay in use; check the secrets file",
        metadata: ["cause": "\(ErrorCause.text(error))"])
      latest.withLock { $0.readAt = now }
    }
    return latest.withLock { $0.keys }
  }

  func token(for grant: UploadGrant) async throws -> String {
    try await UploadTokenIssuer(keys: keys(), issuer: issuer, audience: audience).token(for: grant)
  }

  private func isOld(at now: Date) -> Bool {
    let age = now.timeIntervalSince(latest.withLock { $0.readAt })
    return age < 0 || age >= VerificationLimit.signingKeysAgeSecondsMax
  }
}

extension UploadTokenIssuer: TokenSigning {}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import Secrets
import UploadToken
import VerificationAPI
import World

/// Exchanges a PIN or a short code for an upload token: once, and again for the same client. A permit that comes with
/// it gives the tokens of the following days.
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
  /// - Parameter wantsFollowUp: True to add a permit for the following days.
  /// - Throws: `VerificationServerError` if nothing could be signed or stored; the code stays unused.
  func response(
    to code: any EnteredCode, keyHMAC: Data?, wantsFollowUp: Bool
  ) async throws -> AccessTokenResponse? {
    for reading in code.typedReadings {
      if let response = try await response(
        toExactly: reading, keyHMAC: keyHMAC, wantsFollowUp: wantsFollowUp)
      {
        return response
      }
    }
    return nil
  }

  /// Returns the token of today for a permit, or nil if the permit is not valid now.
  ///
  /// - Throws: `VerificationServerError` if nothing could be signed.
  func response(toPermit text: String, keyHMAC: Data) async throws -> AccessTokenResponse? {
    let now = clock.now
    guard let permit = FollowUpPermit(text, keys: keys), permit.isValid(at: now) else { return nil }
    let grant = grant(
      of: permit.testResult, id: permit.tokenID(at: now, keys: keys), keyHMAC: keyHMAC,
      isCanary: false, at: now)
    do {
      return AccessTokenResponse(accessToken: try await signing.token(for: grant))
    } catch {
      throw VerificationServerError.ofSignature(error)
    }
  }

  private func response(
    toExactly code: any EnteredCode, keyHMAC: Data?, wantsFollowUp: Bool
  ) async throws -> AccessTokenResponse? {
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
          try await offer(code, of: live, keyHMAC: keyHMAC, binding: binding, at: now)
        })
    else { return nil }
    guard isEqualInConstantTime(valid.binding, binding) else { return nil }
    var response = AccessTokenResponse(
      accessToken: try valid.sealedToken.text(for: code, keys: keys))
    // A permit would give tokens without the mark of the canary.
    if wantsFollowUp, !live.isCanary {
      let permit = FollowUpPermit(
        chain: keys.hash(of: binding, for: .followUpChain).prefix(FollowUpPermit.chainBytes),
        issuedAt: now, testResult: live.testResult)
      response.followUp = try permit.text(
        keys: keys, nonce: randomness.bytes(SealedToken.nonceBytes))
    }
    return response
  }

  private func grant(
    of testResult: TestResult, id: String, keyHMAC: Data?, isCanary: Bool, at now: Date
  ) -> UploadGrant {
    UploadGrant(
      tokenID: id, issuedAt: now, expiresAt: now.addingTimeInterval(tokenLifetime),
      reportType: testResult.reportType, symptomOnsetInterval: testResult.symptomOnsetInterval,
      keyHMAC: keyHMAC, isCanary: isCanary)
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
    _ code: any EnteredCode, of live: StoredCode, keyHMAC: Data?, binding: Data, at now: Date
  ) async throws -> Redemption {
    let grant = grant(
      of: live.testResult, id: UUID(from: randomness).text, keyHMAC: keyHMAC,
      isCanary: live.isCanary, at: now)
    do {
      let token = try await signing.token(for: grant)
      let nonce = randomness.bytes(SealedToken.nonceBytes)
      return Redemption(
        binding: binding,
        sealedToken: try SealedToken(token, for: code, keys: keys, nonce: nonce))
    } catch {
      throw VerificationServerError.ofSignature(error)
    }
  }
}

/// A signer of upload tokens, which may fail.
protocol TokenSigning: Sendable {
  /// Returns a signed token with the content of `grant`.
  func token(for grant: UploadGrant) async throws -> String
}

extension UploadTokenIssuer: TokenSigning {}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import Secrets
import ServerStorage
import Synchronization
import UploadToken
import World

/// The current signing keys, read again periodically so that keys can change while the server runs.
///
/// If reading fails, the keys that were read last stay in use. A key on a token signs on a thread of its own, and no
/// request waits for it for longer than `VerificationLimit.signatureSecondsMax`.
final class SigningKeyring: TokenSigning, Sendable {
  /// The claim `iss` of tokens and certificates.
  let issuer: String
  /// The claim `aud` of upload tokens and certificates.
  let audience: String

  private let latest: RereadFile<SigningKeys>
  private let calls: SignerCalls
  private let clock: any WallClock
  private let health: ServerHealth
  /// After a key has failed to sign, until it signs again: to be found on its token is not enough then.
  private let failures = Mutex(SigningFailures())
  /// The signatures on a token by the ID of what is signed: a certificate, or a token of a permit, can be requested
  /// again and again.
  private let signatures: AttemptBudget
  private let subjects = BudgetKeys(from: SystemRandomness())

  /// - Parameters:
  ///   - configured: The issuer, the audience and the first keys.
  ///   - read: Reads the keys again; nil if they do not change.
  ///   - version: The present version of the file that is read.
  ///   - clock: The clock of the limits.
  ///   - logger: Gets failures of `read`.
  ///   - health: Gets the fault of a token; nil for one of its own.
  init(
    _ configured: UploadTokenIssuer, read: (@Sendable () throws -> SigningKeys)?,
    version: (@Sendable () -> FileVersion?)? = nil, clock: any WallClock, logger: Logger,
    health: ServerHealth? = nil
  ) {
    issuer = configured.issuer
    audience = configured.audience
    self.clock = clock
    self.health = health ?? ServerHealth(logger: logger, server: "VerificationServer")
    calls = SignerCalls(clock: clock, limitSeconds: VerificationLimit.signerSeconds) {
      TokenFault(description: $0)
    }
    signatures = AttemptBudget(
      attempts: VerificationLimit.signaturesOfID,
      windowSeconds: VerificationLimit.signatureWindowSeconds, clock: clock)
    latest = RereadFile(
      configured.keys, name: "signing keys", read: read, version: version, clock: clock,
      logger: logger)
  }

  /// Returns the keys of the present secrets.
  func keys() -> SigningKeys { latest.value }

  /// True if the key that signs is on a token that cannot sign.
  var isFailing: Bool { health.faultyParts.contains(.signing) }

  func token(for grant: UploadGrant) async throws -> String {
    let (issuer, audience) = (issuer, audience)
    return try await text(id: grant.tokenID, at: grant.issuedAt) {
      try UploadTokenIssuer(keys: $0, issuer: issuer, audience: audience).text(of: grant)
    }
  }

  /// Returns what `sign` makes with the present keys.
  ///
  /// - Parameters:
  ///   - id: The ID of the token for which it signs; the signatures of one ID have a budget if the key is on a token.
  ///   - now: The time at which the key must be valid.
  ///   - sign: Makes the text; it may block.
  /// - Throws: The error of `sign`; `TokenFault` if a key on a token has not signed in time; `SignerCallsBusy` if
  ///   others were before it; `QuietRefusal.tooManyAttempts`; `CancellationError`.
  func text(
    id: String, at now: Date, _ sign: @escaping @Sendable (SigningKeys) throws -> String
  ) async throws -> String {
    let keys = keys()
    guard try keys.signing(at: now).mayBlock else { return try sign(keys) }
    let subject = subjects.key(for: id)
    if let seconds = await signatures.spend(subject) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    do { return try await onToken { try sign(keys) } } catch {
      // The call of a request that was cancelled may go on.
      if !(error is CancellationError) { await signatures.refund(subject) }
      throw error
    }
  }

  /// Checks that the key can sign, so that a token which was removed is noticed before a code is entered.
  func check() async {
    let (keys, now) = (keys(), clock.now)
    // `/ready` reports that no key is valid as a fault of the secrets.
    guard let key = try? keys.signing(at: now), key.mayBlock else { return endFailures() }
    let bySigning = failures.withLock { $0.areOpen }
    // The failure has been reported.
    _ = try? await onToken { try key.check(bySigning: bySigning) }
  }

  /// Runs a call of a key on a token, and reports its failure as a fault until a later call succeeds.
  private func onToken<Value: Sendable>(
    _ call: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let known = failures.withLock { $0 }
    do {
      let value = try await calls.run(within: VerificationLimit.signatureSecondsMax) {
        Result { try call() }
      }.get()
      if failures.withLock({ $0.end(known) }) { health.report(nil, of: .signing) }
      return value
    } catch let error where error is CancellationError || error is SignerCallsBusy {
      throw error
    } catch {
      failures.withLock { $0.count += 1 }
      health.report("\(error)", of: .signing)
      throw error
    }
  }

  private func endFailures() {
    failures.withLock { _ = $0.end($0) }
    health.report(nil, of: .signing)
  }

  /// A token that does not respond.
  private struct TokenFault: Error, CustomStringConvertible {
    let description: String
  }
}

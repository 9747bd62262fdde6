import Foundation
import Logging
import QuietHTTP
import Synchronization
import UploadToken
import World

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

/// A signer of upload tokens, which may fail.
protocol TokenSigning: Sendable {
  /// Returns a signed token with the content of `grant`.
  func token(for grant: UploadGrant) async throws -> String
}

extension UploadTokenIssuer: TokenSigning {}

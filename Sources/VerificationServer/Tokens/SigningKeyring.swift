import Foundation
import Logging
import Synchronization
import UploadToken
import World

/// The keys that sign, read anew when they have become old, so that a key is changed while the server runs.
///
/// Documentation/VerificationServer.md 5.3. What cannot be read changes nothing: the keys that were there go on.
final class SigningKeyring: TokenSigning, Sendable {
  /// Claim `iss` of what they sign.
  let issuer: String
  /// Claim `aud` of what is signed for the key server.
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

  /// The keys, at most `VerificationLimit.signingKeysAgeSecondsMax` old.
  func keys() -> SigningKeys {
    let now = clock.now
    guard let read, isOld(at: now) else { return latest.withLock { $0.keys } }
    do {
      let new = try read()
      latest.withLock { $0 = (new, now) }
    } catch {
      logger.warning(
        "the signing keys could not be read; those that were known go on",
        metadata: ["kind": "\(type(of: error))"])
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

/// Whatever signs tokens. The server uses `UploadTokenIssuer`; a key kept in hardware may fail.
protocol TokenSigning: Sendable {
  /// The token that says `grant`.
  func token(for grant: UploadGrant) async throws -> String
}

extension UploadTokenIssuer: TokenSigning {}

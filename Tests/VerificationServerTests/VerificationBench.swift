import Crypto
import Foundation
import TestSupport
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

/// The parts of a verification server without HTTP, on a database of their own.
struct VerificationBench {
  static let lifetime: TimeInterval = 1800
  static let confirmed = Finding(
    testType: .confirmed, symptomDay: CalendarDay(HandClock.start))

  let folder: TemporaryFolder
  let clock = HandClock()
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: UploadTokenIssuer
  let verifier: UploadTokenVerifier

  init() throws {
    folder = try TemporaryFolder()
    storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    keys = try Self.keys()
    let key = P256.Signing.PrivateKey()
    signing = try Self.issuer(key)
    verifier = try UploadTokenVerifier(
      issuer: "verification", audience: "keys",
      publicKeysPEM: ["v1": key.publicKey.pemRepresentation])
  }

  static func keys(_ byte: UInt8 = 7) throws -> CodeKeys {
    guard let keys = CodeKeys(codeHashKey: [UInt8](repeating: byte, count: 32)) else {
      throw VerificationServerError.badConfiguration("the bench's key")
    }
    return keys
  }

  static func issuer(_ key: P256.Signing.PrivateKey) throws -> UploadTokenIssuer {
    try UploadTokenIssuer(
      keyID: "v1", privateKeyPEM: key.pemRepresentation, issuer: "verification", audience: "keys")
  }

  var randomness: any Randomness { SystemRandomness() }

  /// A new signing key.
  static func pem() -> String { P256.Signing.PrivateKey().pemRepresentation }

  func issuance(randomness: any Randomness = SystemRandomness()) -> CodeIssuance {
    CodeIssuance(
      storage: storage, keys: keys, lifetime: Self.lifetime, clock: clock, randomness: randomness)
  }

  func redemption(
    signing: (any TokenSigning)? = nil, keys: CodeKeys? = nil
  ) -> CodeRedemption {
    CodeRedemption(
      storage: storage, keys: keys ?? self.keys, signing: signing ?? self.signing,
      tokenLifetime: Self.lifetime, clock: clock, randomness: SystemRandomness())
  }

  func code() async throws -> VerificationCode {
    try await issuance().code(for: Self.confirmed)
  }

  func grant(of token: String) async throws -> UploadGrant {
    try await verifier.verified(UnverifiedUploadToken(token), at: clock.now).grant
  }
}

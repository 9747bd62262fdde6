// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing
import UploadToken
import VerificationAPI

@testable import VerificationServer

@Suite("Change of signing keys at run time")
struct SigningKeyringTests {
  /// The content of the operator's file with the keys.
  private final class Known: Sendable {
    private let keys: Mutex<SigningKeys?>

    init(_ keys: SigningKeys) { self.keys = Mutex(keys) }

    func set(_ new: SigningKeys?) { keys.withLock { $0 = new } }

    func read() throws -> SigningKeys {
      guard let keys = keys.withLock({ $0 }) else { throw CocoaError(.fileReadNoSuchFile) }
      return keys
    }
  }

  private static func key(_ id: String, from: Date = .distantPast) throws -> SigningKey {
    try SigningKey(
      keyID: id, privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, signsFrom: from)
  }

  @Test(
    "The newest key signs within seconds in both contracts, and tokens of the old key stay valid")
  func rotation() async throws {
    let folder = try TemporaryFolder()
    let old = try Self.key("k1")
    let known = Known(try SigningKeys([old]))
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.signing = UploadTokenIssuer(
          keys: try known.read(), issuer: "verification", audience: "keys")
        $0.readSigningKeys = { try known.read() }
      }
    ) { server async throws in
      func keyID(_ token: String?) throws -> String {
        try CompactToken(try #require(token)).keyID
      }
      func published() async throws -> Set<String> {
        let page = try await server.get(VerificationRoute.keys)
        return Set(
          try JSONDecoder().decode(JSONWebKeySet.self, from: page.body).publicKeysPEM.keys)
      }
      let verified = try await server.verified(server.issue().code).token
      #expect(try keyID(verified) == "k1")
      known.set(try SigningKeys([old, try Self.key("k2", from: server.clock.now)]))
      server.clock.advance(by: VerificationLimit.signingKeysAgeSecondsMax - 1)
      #expect(try await published() == ["k1"])
      server.clock.advance(by: 1)
      #expect(try await published() == ["k1", "k2"])
      #expect(try keyID(await server.redeem(server.newCode()).token) == "k2")
      #expect(try keyID(await server.verified(server.issue().code).token) == "k2")
      let certified = try await server.certify(verified)
      #expect(certified.status == 200)
      let text = try JSONDecoder().decode([String: String].self, from: certified.body)
      #expect(try keyID(text["certificate"]) == "k2")
      // A file that cannot be read has no effect.
      known.set(nil)
      server.clock.advance(by: VerificationLimit.signingKeysAgeSecondsMax)
      #expect(try keyID(await server.redeem(server.newCode()).token) == "k2")
    }
  }
}

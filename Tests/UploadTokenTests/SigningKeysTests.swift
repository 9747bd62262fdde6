// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Testing

@testable import UploadToken

@Suite("Signing keys")
struct SigningKeysTests {
  static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func key(_ keyID: String, from: TimeInterval, until: TimeInterval) throws -> SigningKey {
    try SigningKey(
      keyID: keyID, privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation,
      signsFrom: Self.now + from, publishedUntil: Self.now + until)
  }

  @Test("The newest active key signs, and older keys stay published until they expire")
  func rotation() throws {
    let keys = try SigningKeys([
      try key("new", from: 100, until: 500), try key("old", from: 0, until: 200),
    ])
    for (second, signing, published) in [
      (0.0, "old", ["old", "new"]), (99, "old", ["old", "new"]), (100, "new", ["old", "new"]),
      (199, "new", ["old", "new"]), (200, "new", ["new"]), (499, "new", ["new"]),
    ] {
      #expect(try keys.signing(at: Self.now + second).keyID == signing)
      #expect(keys.published(at: Self.now + second).keys.map(\.kid) == published)
    }
    for second in [-1.0, 500] {
      #expect(throws: SigningKeysError.noKeyNow) { try keys.signing(at: Self.now + second) }
    }
  }

  @Test("A token signed before a key rotation is verified with the published keys after it")
  func overlap() async throws {
    let keys = try SigningKeys([
      try key("old", from: 0, until: 2_000), try key("new", from: 100, until: 9_000),
    ])
    let issuer = UploadTokenIssuer(keys: keys, issuer: "verification", audience: "keys")
    var tokens: [String] = []
    for second in [99.0, 100] {
      let grant = UploadGrant(
        tokenID: "a", issuedAt: Self.now + second, expiresAt: Self.now + second + 1_800)
      tokens.append(try await issuer.token(for: grant))
    }
    let page = try JSONDecoder().decode(
      JSONWebKeySet.self, from: try JSONEncoder().encode(keys.published(at: Self.now + 150)))
    let verifier = try UploadTokenVerifier(
      issuer: "verification", audience: "keys", publicKeysPEM: page.publicKeysPEM)
    for token in tokens {
      _ = try await verifier.verified(UnverifiedUploadToken(token), at: Self.now + 150)
    }
    #expect(try tokens.map { try CompactToken($0).keyID } == ["old", "new"])
  }

  @Test("A set without keys or with a repeated ID is rejected")
  func refused() throws {
    #expect(throws: SigningKeysError.noKey) { try SigningKeys([]) }
    let one = try key("a", from: 0, until: 1)
    #expect(throws: SigningKeysError.sameKeyID) { try SigningKeys([one, one]) }
  }

  @Test(
    "A key of another kind is skipped, and a valid key next to it is used",
    arguments: [
      #"{"kty":"RSA","n":"0vx7","e":"AQAB","alg":"RS256","kid":"r"}"#,
      #"{"kty":"oct","k":"AyM1","kid":"o"}"#,
      #"{"kty":"OKP","crv":"Ed25519","x":"11qY","kid":"e"}"#,
      #"{"kty":"EC","crv":"P-384","x":"MKBC","y":"4Etl","kid":"p"}"#,
      #"{"kty":"EC","crv":"P-256","x":7,"y":"4Etl","kid":"x"}"#,
      #"{"kty":"EC","crv":"P-256","x":"MKBC","y":"4Etl","kid":7}"#, "{}", "[]", "null", #""key""#,
    ])
  func otherKinds(otherKey: String) throws {
    let good = JSONWebKey(keyID: "good", P256.Signing.PrivateKey().publicKey)
    let json = String(decoding: try JSONEncoder().encode(good), as: UTF8.self)
    for list in ["[\(otherKey),\(json)]", "[\(json),\(otherKey)]"] {
      for text in [list, #"{"keys":\#(list)}"#] {
        let set = try JSONDecoder().decode(JSONWebKeySet.self, from: Data(text.utf8))
        #expect(set.publicKeysPEM == ["good": good.publicKeyPEM], "\(text)")
      }
    }
    let alone = try JSONDecoder().decode(JSONWebKeySet.self, from: Data("[\(otherKey)]".utf8))
    #expect(alone.publicKeysPEM.isEmpty)
  }

  @Test(
    "JSON that is not a list of keys is rejected", arguments: ["{}", "7", #"{"keys":7}"#, "", "[1"])
  func noSet(text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(JSONWebKeySet.self, from: Data(text.utf8))
    }
  }

  @Test(
    "Of two keys with the same ID the first usable one counts, and a key with an empty ID is skipped"
  )
  func sameID() {
    let (first, second) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    var foreign = JSONWebKey(keyID: "a", second.publicKey)
    foreign.use = "enc"
    let keys = [("a", first), ("a", second), ("", second)].map {
      JSONWebKey(keyID: $0.0, $0.1.publicKey)
    }
    #expect(
      JSONWebKeySet(keys: [foreign] + keys).publicKeysPEM
        == ["a": first.publicKey.pemRepresentation])
  }

  @Test("The key of RFC 7517, appendix A.1, is decoded from a list and from a set")
  func outsideKey() throws {
    let json = """
      {"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",\
      "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","use":"sig","kid":"1"}
      """
    for text in [#"{"keys":[\#(json)]}"#, "[\(json)]"] {
      let set = try JSONDecoder().decode(JSONWebKeySet.self, from: Data(text.utf8))
      let pem = try #require(set.publicKeysPEM["1"])
      let key = try P256.Signing.PublicKey(pemRepresentation: pem)
      #expect(JSONWebKey(keyID: "1", key).x == "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4")
    }
    for changed in [
      json.replacing("P-256", with: "P-384"), json.replacing("EC", with: "RSA"),
      json.replacing("sig", with: "enc"), json.replacing("MKBC", with: "MKBD"),
      json.replacing(#""kid":"1""#, with: #""alg":"ES256""#),
    ] {
      let set = try JSONDecoder().decode(JSONWebKeySet.self, from: Data("[\(changed)]".utf8))
      #expect(set.publicKeysPEM.isEmpty, "\(changed)")
    }
  }
}

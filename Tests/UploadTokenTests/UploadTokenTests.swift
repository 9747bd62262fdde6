// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Testing

@testable import UploadToken

@Suite("Upload tokens")
struct UploadTokenTests {
  let fixture: TokenFixture

  init() throws {
    fixture = try TokenFixture()
  }

  @Test("A verified token has the grant that was signed")
  func roundTrip() async throws {
    let token = try await fixture.issuer.token(for: fixture.grant)
    let verified = try await fixture.verifier.verified(
      UnverifiedUploadToken(token), at: TokenFixture.start)
    #expect(verified.grant == fixture.grant)

    var bare = fixture.grant
    bare.keyHMAC = nil
    bare.symptomOnsetInterval = nil
    let bareToken = try await fixture.issuer.token(for: bare)
    let again = try await fixture.verifier.verified(
      UnverifiedUploadToken(bareToken), at: TokenFixture.start)
    #expect(again.grant == bare)
  }

  @Test(
    "The token of a canary has an audience of its own, and is recognized by its key server only")
  func canary() async throws {
    var grant = fixture.grant
    grant.isCanary = true
    let token = try await fixture.issuer.token(for: grant)
    let claims = try JSONSerialization.jsonObject(with: TokenFixture.part(1, of: token))
    #expect((claims as? [String: Any])?["aud"] as? String == "keys/canary")
    let verified = try await fixture.verifier.verified(
      UnverifiedUploadToken(token), at: TokenFixture.start)
    #expect(verified.grant == grant)
    let other = try await TokenFixture.issuer(fixture.key, audience: "others").token(for: grant)
    #expect(await fixture.refusal(of: other) == .wrongAudience)
    // An authority cannot get the mark of another key server by a list of names.
    let text = String(decoding: TokenFixture.part(1, of: token), as: UTF8.self)
    let both = text.replacing(#""keys/canary""#, with: #"["keys","keys/canary"]"#)
    #expect(await fixture.refusal(of: try fixture.signed(claims: both)) == .wrongAudience)
  }

  @Test("A token has a header with ES256 and key ID, and only the specified claims")
  func claims() async throws {
    let token = try await fixture.issuer.token(for: fixture.grant)
    let header = try JSONSerialization.jsonObject(with: TokenFixture.part(0, of: token))
    let fields = try #require(header as? [String: String])
    #expect(fields == ["alg": "ES256", "typ": "JWT", "kid": "v1"])
    let body = try JSONSerialization.jsonObject(with: TokenFixture.part(1, of: token))
    let claims = try #require(body as? [String: Any])
    #expect(
      claims.keys.sorted() == [
        "aud", "exp", "iat", "iss", "jti", "nbf", "reportType", "symptomOnsetInterval", "tekmac",
      ])
    #expect(claims["tekmac"] as? String == Data(repeating: 0xAB, count: 32).base64EncodedString())
    #expect(claims["iat"] as? Int == 1_800_000_000)
    #expect(claims["exp"] as? Int == 1_800_001_800)
  }

  @Test("The signature is valid ECDSA over the first two parts")
  func outsideSignature() async throws {
    let token = try await fixture.issuer.token(for: fixture.grant)
    let dot = try #require(token.lastIndex(of: "."))
    let signature = try P256.Signing.ECDSASignature(
      rawRepresentation: TokenFixture.part(2, of: token))
    #expect(
      fixture.key.publicKey.isValidSignature(signature, for: Data(token[..<dot].utf8)))
  }

  @Test("A token is valid from a minute before its issue until the second before it expires")
  func time() async throws {
    let token = try await fixture.issuer.token(for: fixture.grant)
    let skew = UploadTokenLimit.clockSkewSeconds
    let expiry = TokenFixture.start.addingTimeInterval(TokenFixture.lifetime)
    #expect(await fixture.refusal(of: token, at: TokenFixture.start - skew - 1) == .notYetValid)
    #expect(await fixture.refusal(of: token, at: TokenFixture.start - skew) == nil)
    #expect(await fixture.refusal(of: token, at: expiry - 1) == nil)
    #expect(await fixture.refusal(of: token, at: expiry) == .expired)
    #expect(await fixture.refusal(of: token, at: expiry + 1) == .expired)
  }

  @Test("A token of another issuer, audience or key is rejected")
  func otherParties() async throws {
    let other = try TokenFixture.issuer(fixture.key, issuer: "somebody")
    #expect(await fixture.refusal(of: try await other.token(for: fixture.grant)) == .wrongIssuer)
    let elsewhere = try TokenFixture.issuer(fixture.key, audience: "elsewhere")
    #expect(
      await fixture.refusal(of: try await elsewhere.token(for: fixture.grant)) == .wrongAudience)
    let newer = try TokenFixture.issuer(fixture.key, keyID: "v2")
    #expect(await fixture.refusal(of: try await newer.token(for: fixture.grant)) == .unknownKey)
    let impostor = try TokenFixture.issuer(P256.Signing.PrivateKey())
    #expect(
      await fixture.refusal(of: try await impostor.token(for: fixture.grant)) == .wrongSignature)
  }

  @Test("Each of two trusted keys is accepted with its own ID only")
  func twoKeys() async throws {
    let second = P256.Signing.PrivateKey()
    let verifier = try UploadTokenVerifier(
      issuer: "verification", audience: "keys",
      publicKeysPEM: [
        "v1": fixture.key.publicKey.pemRepresentation, "v2": second.publicKey.pemRepresentation,
      ])
    for (key, keyID, good) in [
      (fixture.key, "v1", true), (second, "v2", true), (fixture.key, "v2", false),
      (second, "v1", false),
    ] {
      let token = try await TokenFixture.issuer(key, keyID: keyID).token(for: fixture.grant)
      let verified = try? await verifier.verified(
        UnverifiedUploadToken(token), at: TokenFixture.start)
      #expect((verified != nil) == good)
    }
  }

  @Test("Grants and tokens do not reveal their content when printed or dumped")
  func redaction() async throws {
    let text = try await fixture.issuer.token(for: fixture.grant)
    let unverified = UnverifiedUploadToken(text)
    let verified = try await fixture.verifier.verified(unverified, at: TokenFixture.start)
    for value in [fixture.grant, unverified, verified, fixture.issuer] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for shown in ["\(value)", String(reflecting: value), dumped] {
        #expect(!shown.contains(text))
        #expect(!shown.contains(fixture.grant.tokenID))
        #expect(!shown.contains("PRIVATE KEY"))
        #expect(!shown.lowercased().contains("abab"))
      }
    }
  }
}

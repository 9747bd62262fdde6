import Crypto
import Foundation
import Testing

@testable import UploadToken

@Suite struct UploadTokenTests {
  let bench: TokenBench

  init() throws {
    bench = try TokenBench()
  }

  @Test("What is granted comes out of the verified token as it went in")
  func roundTrip() async throws {
    let token = try await bench.issuer.token(for: bench.grant)
    let verified = try await bench.verifier.verified(
      UnverifiedUploadToken(token), at: TokenBench.start)
    #expect(verified.grant == bench.grant)

    var bare = bench.grant
    bare.keyHMAC = nil
    bare.symptomOnsetInterval = nil
    let bareToken = try await bench.issuer.token(for: bare)
    let again = try await bench.verifier.verified(
      UnverifiedUploadToken(bareToken), at: TokenBench.start)
    #expect(again.grant == bare)
  }

  @Test("A token says ES256, its key's id and nothing but the agreed claims")
  func claims() async throws {
    let token = try await bench.issuer.token(for: bench.grant)
    let header = try JSONSerialization.jsonObject(with: TokenBench.part(0, of: token))
    let fields = try #require(header as? [String: String])
    #expect(fields == ["alg": "ES256", "typ": "JWT", "kid": "v1"])
    let body = try JSONSerialization.jsonObject(with: TokenBench.part(1, of: token))
    let claims = try #require(body as? [String: Any])
    #expect(
      claims.keys.sorted() == [
        "aud", "exp", "iat", "iss", "jti", "nbf", "reportType", "symptomOnsetInterval", "tekmac",
      ])
    #expect(claims["tekmac"] as? String == Data(repeating: 0xAB, count: 32).base64EncodedString())
    #expect(claims["iat"] as? Int == 1_800_000_000)
    #expect(claims["exp"] as? Int == 1_800_001_800)
  }

  @Test("Another implementation of ECDSA finds the signature good")
  func outsideSignature() async throws {
    let token = try await bench.issuer.token(for: bench.grant)
    let dot = try #require(token.lastIndex(of: "."))
    let signature = try P256.Signing.ECDSASignature(
      rawRepresentation: TokenBench.part(2, of: token))
    #expect(
      bench.key.publicKey.isValidSignature(signature, for: Data(token[..<dot].utf8)))
  }

  @Test("A token is good from a minute before its issue up to the second before it expires")
  func time() async throws {
    let token = try await bench.issuer.token(for: bench.grant)
    let skew = UploadTokenLimit.clockSkewSeconds
    let expiry = TokenBench.start.addingTimeInterval(TokenBench.lifetime)
    #expect(await bench.refusal(of: token, at: TokenBench.start - skew - 1) == .notYetValid)
    #expect(await bench.refusal(of: token, at: TokenBench.start - skew) == nil)
    #expect(await bench.refusal(of: token, at: expiry - 1) == nil)
    #expect(await bench.refusal(of: token, at: expiry) == .expired)
    #expect(await bench.refusal(of: token, at: expiry + 1) == .expired)
  }

  @Test("A token of another issuer, for another audience or of another key is refused")
  func otherParties() async throws {
    let other = try TokenBench.issuer(bench.key, issuer: "somebody")
    #expect(await bench.refusal(of: try await other.token(for: bench.grant)) == .wrongIssuer)
    let elsewhere = try TokenBench.issuer(bench.key, audience: "elsewhere")
    #expect(await bench.refusal(of: try await elsewhere.token(for: bench.grant)) == .wrongAudience)
    let newer = try TokenBench.issuer(bench.key, keyID: "v2")
    #expect(await bench.refusal(of: try await newer.token(for: bench.grant)) == .unknownKey)
    let impostor = try TokenBench.issuer(P256.Signing.PrivateKey())
    #expect(await bench.refusal(of: try await impostor.token(for: bench.grant)) == .wrongSignature)
  }

  @Test("With two keys trusted, each signs under its own id only")
  func twoKeys() async throws {
    let second = P256.Signing.PrivateKey()
    let verifier = try UploadTokenVerifier(
      issuer: "verification", audience: "keys",
      publicKeysPEM: [
        "v1": bench.key.publicKey.pemRepresentation, "v2": second.publicKey.pemRepresentation,
      ])
    for (key, keyID, good) in [
      (bench.key, "v1", true), (second, "v2", true), (bench.key, "v2", false),
      (second, "v1", false),
    ] {
      let token = try await TokenBench.issuer(key, keyID: keyID).token(for: bench.grant)
      let verified = try? await verifier.verified(
        UnverifiedUploadToken(token), at: TokenBench.start)
      #expect((verified != nil) == good)
    }
  }

  @Test("Neither the grant nor any token type shows what it holds")
  func redaction() async throws {
    let text = try await bench.issuer.token(for: bench.grant)
    let unverified = UnverifiedUploadToken(text)
    let verified = try await bench.verifier.verified(unverified, at: TokenBench.start)
    for value in [bench.grant, unverified, verified, bench.issuer] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for shown in ["\(value)", String(reflecting: value), dumped] {
        #expect(!shown.contains(text))
        #expect(!shown.contains(bench.grant.tokenID))
        #expect(!shown.contains("PRIVATE KEY"))
        #expect(!shown.lowercased().contains("abab"))
      }
    }
  }
}

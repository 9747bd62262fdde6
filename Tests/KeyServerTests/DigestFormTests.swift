import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import UploadToken

@testable import KeyServer

/// What the database knows uploads and tokens by. A server that is brought up to date must know those of
/// before, so what is hashed stands here in full and never changes.
@Suite("Servers 3: digests that are kept") struct DigestFormTests {
  private static func digest(_ parts: [String]) -> Data {
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    return Data(SHA256.hash(data: Data(text.utf8)))
  }

  @Test(
    "An upload in Google's form is known by what counts of it, its keys in the order of their lines"
  )
  func publish() {
    let keys = [
      PublishKey(
        key: "BBBBBBBBBBBBBBBBBBBBBA==", rollingStartNumber: 2_999_808, rollingPeriod: 144,
        transmissionRisk: 7),
      PublishKey(key: "AAAAAAAAAAAAAAAAAAAAAA==", rollingStartNumber: -5, rollingPeriod: 0),
      PublishKey(key: "AAAAAAAAAAAAAAAAAAAAAA==", rollingStartNumber: 10, rollingPeriod: 99),
      PublishKey(key: "", rollingStartNumber: 0, rollingPeriod: 0, transmissionRisk: 0),
    ]
    let request = PublishRequest(
      temporaryExposureKeys: keys, healthAuthorityID: "pl.gov.example",
      verificationPayload: "a.b.c", hmacKey: "AAAA", symptomOnsetInterval: 2_999_000,
      traveler: true, revisionToken: "zażółć", padding: "x")
    let digest = UploadDigest.of(request, keys: keys.map { SentKey($0) })
    #expect(
      digest
        == Self.digest([
          "publish 1", "pl.gov.example", "true", "2999000", "zażółć", ".0.0.0",
          "AAAAAAAAAAAAAAAAAAAAAA==.-5.0.0", "AAAAAAAAAAAAAAAAAAAAAA==.10.99.0",
          "BBBBBBBBBBBBBBBBBBBBBA==.2999808.144.7",
        ]))
    let reversed = UploadDigest.of(request, keys: keys.reversed().map { SentKey($0) })
    #expect(reversed == digest)
  }

  @Test(
    "A certificate is known by issuer and jti, one without a jti by what was signed",
    arguments: [("j-1", ["jti", "codes", "j-1"]), (nil, ["signed", "head.claims"])])
  func certificate(id: String?, name: [String]) async throws {
    let (key, now) = (P256.Signing.PrivateKey(), RunningKeyServer.start)
    let authority = try CertificateAuthority(issuer: "codes", audience: "keys").adding(
      keyID: "v1", publicKeyPEM: key.publicKey.pemRepresentation)
    let issuer = CertificateIssuer(
      keys: try SigningKeys([SigningKey(keyID: "v1", privateKeyPEM: key.pemRepresentation)]),
      issuer: "codes", audience: "keys")
    let text = try issuer.text(
      of: VerificationCertificate(
        certificateID: id, issuedAt: now, expiresAt: now + 900, reportType: "confirmed",
        symptomOnsetInterval: nil, keyHMAC: Data(repeating: 1, count: 32)), at: now)
    let verified = try CertificateVerifier(authorities: [authority]).verified(
      UnverifiedCertificate(text), at: now)
    // The signature could be written in another way; what stands before it is what was signed.
    let used = UsedToken(verified, text: id == nil ? "head.claims.signature" : text, at: now)
    #expect(used.digest == Self.digest(["certificate 1"] + name))
    let whole = UsedToken(verified, text: "no dot in it", at: now)
    #expect(id != nil || whole.digest == Self.digest(["certificate 1", "signed", "no dot in it"]))
  }
}

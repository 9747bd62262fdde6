// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Testing

@testable import UploadToken

@Suite("Verification certificates")
struct CertificateTests {
  static let now = Date(timeIntervalSince1970: 1_800_000_000)
  static let claims = """
    {"iss":"verification","aud":"keys","iat":1800000000,"nbf":1800000000,"exp":1800000900,\
    "jti":"a","reportType":"likely","tekmac":"\(Data(repeating: 0xFB, count: 32).base64EncodedString())"}
    """

  let key = P256.Signing.PrivateKey()
  let issuer: CertificateIssuer
  let verifier: CertificateVerifier

  init() throws {
    let keys = try SigningKeys([
      try SigningKey(keyID: "v1", privateKeyPEM: key.pemRepresentation)
    ])
    issuer = CertificateIssuer(keys: keys, issuer: "verification", audience: "keys")
    verifier = CertificateVerifier(authorities: [try Self.authority(key)])
  }

  static func authority(
    _ key: P256.Signing.PrivateKey, issuer: String = "verification", audience: String = "keys",
    from: Date = .distantPast, until: Date = .distantFuture
  ) throws -> CertificateAuthority {
    try CertificateAuthority(issuer: issuer, audience: audience).adding(
      keyID: "v1", publicKeyPEM: key.publicKey.pemRepresentation, from: from, until: until)
  }

  static let certificate = VerificationCertificate(
    certificateID: "0b1c", issuedAt: now, expiresAt: now + 900, reportType: "confirmed",
    symptomOnsetInterval: 2_999_952, keyHMAC: Data(repeating: 0xFB, count: 32))

  private func refusal(
    of text: String, at moment: Date = Self.now, by verifier: CertificateVerifier? = nil
  ) -> UploadTokenRefusal? {
    do throws(UploadTokenRefusal) {
      _ = try (verifier ?? self.verifier).verified(UnverifiedCertificate(text), at: moment)
      return nil
    } catch {
      return error
    }
  }

  private func signed(
    _ claims: String, header: String = #"{"alg":"ES256","kid":"v1"}"#
  ) throws -> String {
    try TokenFixture.forged(header: header, claims: claims) {
      try key.signature(for: $0).rawRepresentation
    }
  }

  @Test("A verified certificate has the content that was signed")
  func roundTrip() throws {
    var bare = Self.certificate
    (bare.symptomOnsetInterval, bare.certificateID) = (nil, nil)
    for certificate in [Self.certificate, bare] {
      let text = try issuer.text(of: certificate, at: Self.now)
      let verified = try verifier.verified(UnverifiedCertificate(text), at: Self.now)
      #expect(verified.issuer == "verification")
      #expect(verified.certificate == certificate)
    }
  }

  @Test("A certificate has a header with ES256 and key ID, and only the specified claims")
  func wire() throws {
    let text = try issuer.text(of: Self.certificate, at: Self.now)
    let header = try JSONSerialization.jsonObject(with: TokenFixture.part(0, of: text))
    #expect(header as? [String: String] == ["alg": "ES256", "typ": "JWT", "kid": "v1"])
    let body = try JSONSerialization.jsonObject(with: TokenFixture.part(1, of: text))
    let claims = try #require(body as? [String: Any])
    #expect(
      claims.keys.sorted() == [
        "aud", "exp", "iat", "iss", "jti", "nbf", "reportType", "symptomOnsetInterval", "tekmac",
      ])
    #expect(claims["aud"] as? String == "keys")
    #expect(claims["tekmac"] as? String == Data(repeating: 0xFB, count: 32).base64EncodedString())
  }

  @Test(
    "A certificate is valid from 60 seconds before its time of issue until the second before it expires"
  )
  func time() throws {
    let text = try issuer.text(of: Self.certificate, at: Self.now)
    let skew = UploadTokenLimit.clockSkewSeconds
    #expect(skew == 60)
    #expect(refusal(of: text, at: Self.now - skew - 1) == .notYetValid)
    #expect(refusal(of: text, at: Self.now - skew) == nil)
    #expect(refusal(of: text, at: Self.now) == nil)
    #expect(refusal(of: text, at: Self.now + 899) == nil)
    #expect(refusal(of: text, at: Self.now + 900) == .expired)
    #expect(refusal(of: text, at: Self.now + 901) == .expired)
  }

  @Test(
    "A certificate of another issuer, audience or key is rejected")
  func otherParties() throws {
    let other = P256.Signing.PrivateKey()
    let both = CertificateVerifier(authorities: [
      try Self.authority(key), try Self.authority(other, issuer: "other", audience: "theirs"),
    ])
    let text = try issuer.text(of: Self.certificate, at: Self.now)
    #expect(refusal(of: text, by: both) == nil)
    let stranger = CertificateVerifier(authorities: [try Self.authority(key, issuer: "other")])
    #expect(refusal(of: text, by: stranger) == .wrongIssuer)
    let elsewhere = CertificateVerifier(authorities: [try Self.authority(key, audience: "other")])
    #expect(refusal(of: text, by: elsewhere) == .wrongAudience)
    let impostor = CertificateVerifier(authorities: [try Self.authority(other)])
    #expect(refusal(of: text, by: impostor) == .wrongSignature)
    // The key of one authority must not sign in the name of another.
    let forged = try TokenFixture.forged(
      header: #"{"alg":"ES256","kid":"v1"}"#, claims: Self.claims
    ) { try other.signature(for: $0).rawRepresentation }
    #expect(refusal(of: forged, by: both) == .wrongSignature)
  }

  @Test("A certificate by a key outside the validity of the key is rejected")
  func keyValidity() throws {
    let text = try issuer.text(of: Self.certificate, at: Self.now)
    for (from, until, refused) in [
      (0.0, 1.0, false), (1, 2, true), (-2, 0, true), (-1, 0.5, false),
    ] {
      let limited = CertificateVerifier(authorities: [
        try Self.authority(key, from: Self.now + from, until: Self.now + until)
      ])
      #expect(refusal(of: text, by: limited) == (refused ? .unknownKey : nil))
    }
  }

  @Test("A certificate without algorithm, with another one, or with a flipped bit is rejected")
  func forged() throws {
    for name in ["none", "None", "HS256", ""] {
      let header = #"{"alg":"\#(name)","kid":"v1"}"#
      #expect(refusal(of: try signed(Self.claims, header: header)) == .wrongSignature)
      let bare = TokenFixture.forged(header: header, claims: Self.claims) { _ in Data() }
      #expect(refusal(of: bare) == .wrongSignature)
    }
    let good = try signed(Self.claims)
    #expect(refusal(of: good) == nil)
    for index in stride(from: 0, to: good.utf8.count, by: 7) {
      var bytes = Array(good.utf8)
      bytes[index] ^= 1
      #expect(refusal(of: String(decoding: bytes, as: UTF8.self)) != nil)
    }
    #expect(refusal(of: try signed(Self.claims, header: #"{"alg":"ES256"}"#)) == .unknownKey)
  }

  @Test(
    "A certificate of Google's server is accepted: no jti, other base64, a list of one audience")
  func outsideForms() throws {
    let standard = Data(repeating: 0xFB, count: 32).base64EncodedString()
    let url = standard.replacing("+", with: "-").replacing("/", with: "_")
    for text in [url, url.replacing("=", with: ""), standard.replacing("=", with: "")] {
      let claims = Self.claims.replacing(standard, with: text)
        .replacing(#""jti":"a","#, with: "").replacing(#""aud":"keys""#, with: #""aud":["keys"]"#)
      let read = try verifier.verified(UnverifiedCertificate(try signed(claims)), at: Self.now)
      #expect(read.certificate.certificateID == nil)
      #expect(read.certificate.keyHMAC == Self.certificate.keyHMAC)
    }
  }

  @Test(
    "A certificate with incomplete claims is malformed",
    arguments: [
      "{}", claims.replacing(#""jti":"a""#, with: #""jti":"""#),
      claims.replacing("1800000900", with: "-1"), claims.replacing("+/v7", with: ""),
      claims.replacing("tekmac", with: "mac"), claims.replacing("reportType", with: "type"),
    ])
  func broken(claims: String) throws {
    #expect(refusal(of: try signed(claims)) == .malformed)
  }

  @Test("Certificates do not reveal their content when printed or dumped")
  func redaction() throws {
    let text = try issuer.text(of: Self.certificate, at: Self.now)
    let unverified = UnverifiedCertificate(text)
    let verified = try verifier.verified(unverified, at: Self.now)
    for value in [Self.certificate, unverified, verified] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for shown in ["\(value)", String(reflecting: value), dumped] {
        #expect(!shown.contains(text) && !shown.contains("0b1c") && !shown.contains("251"))
      }
    }
  }
}

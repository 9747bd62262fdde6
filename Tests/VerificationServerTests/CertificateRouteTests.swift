// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TestSupport
import Testing
import UploadToken
import VerificationAPI

@testable import VerificationServer

/// POST /api/certificate.
@Suite struct CertificateRouteTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("The certificate is bound to the keys and contains the onset interval if it is known")
  func certificate() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.issue(
        #"{"testType":"confirmed","symptomDate":"2027-01-10"}"#
      ).code
      let token = try await server.verified(code).token
      let certificate = try server.certificate(in: try await server.certify(token))
      #expect(certificate.reportType == "confirmed")
      #expect(certificate.symptomOnsetInterval == 2_999_232)
      #expect(certificate.keyHMAC == RunningServer.keyHMAC)
      #expect(certificate.issuedAt == VerificationBench.start - 5)
      #expect(certificate.expiresAt == VerificationBench.start + 900)
      #expect(UUID(uuidString: certificate.certificateID ?? "") != nil)
      let testDateOnly = try await server.issue(
        #"{"testType":"confirmed","testDate":"2027-01-10"}"#
      ).code
      let other = try await server.verified(testDateOnly).token
      let bare = try server.certificate(in: try await server.certify(other))
      #expect(bare.symptomOnsetInterval == nil)
      #expect(bare.certificateID != certificate.certificateID)
    }
  }

  @Test("A retry for the same keys gets the same certificate ID; one for other keys is rejected")
  func lostResponse() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let token = try await server.verified(try await server.issue().code).token
      let first = try server.certificate(in: try await server.certify(token))
      server.clock.advance(by: 3_600)
      let again = try server.certificate(in: try await server.certify(token))
      #expect(again.certificateID == first.certificateID)
      #expect(again.expiresAt == first.expiresAt + 3_600)
      let other = Data(repeating: 4, count: 32)
      #expect(try await server.certify(token, keyHMAC: other).refusal == "400 token_expired")
    }
  }

  @Test(
    "Of fifty concurrent requests with one token and different keys exactly one gets a certificate")
  func oneWins() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let token = try await server.verified(try await server.issue().code).token
      let refusals = try await withThrowingTaskGroup(of: String?.self) { group in
        for index in 0..<50 {
          group.addTask {
            try await server.certify(token, keyHMAC: Data(repeating: UInt8(index), count: 32))
              .refusal
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(refusals.filter { $0 == nil }.count == 1)
      #expect(refusals.filter { $0 == "400 token_expired" }.count == 49)
    }
  }

  @Test("An HMAC that is not base64 of 32 bytes is rejected, and the token stays valid")
  func hmac() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let token = try await server.verified(try await server.issue().code).token
      for length in [31, 33] {
        let hmac = Data(repeating: 1, count: length)
        #expect(try await server.certify(token, keyHMAC: hmac).refusal == "400 hmac_invalid")
      }
      for body in [#"{"token":"\#(token)"}"#, #"{"token":"\#(token)","ekeyhmac":"no base64"}"#] {
        let response = try await server.device(VerificationRoute.certificate, body)
        #expect(response.refusal == "400 hmac_invalid")
      }
      #expect(try await server.certify(token).status == 200)
    }
  }

  @Test("A token is valid up to the second before its expiry")
  func expiry() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let early = try await server.verified(try await server.issue().code).token
      let late = try await server.verified(try await server.issue().code).token
      server.clock.advance(by: 86_399)
      #expect(try await server.certify(early).status == 200)
      server.clock.advance(by: 1)
      #expect(try await server.certify(late).refusal == "400 token_expired")
      #expect(try await server.certify(early).refusal == "400 token_expired")
    }
  }

  @Test("A token without algorithm, of another key or for another audience is rejected")
  func forged() async throws {
    let key = P256.Signing.PrivateKey()
    let ours = try SigningKey(keyID: "v1", privateKeyPEM: key.pemRepresentation)
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.signing = UploadTokenIssuer(
          keys: try SigningKeys([ours]), issuer: "verification", audience: "keys")
      }
    ) { server async throws in
      let good = VerificationToken(
        tokenID: "a", testResult: TestResult(testType: .confirmed),
        issuedAt: VerificationBench.start,
        expiresAt: VerificationBench.start + 60
      ).claims(issuer: "verification")
      let theirs = try SigningKey(keyID: "v1", privateKeyPEM: VerificationBench.pem())
      let unknown = try SigningKey(keyID: "v2", privateKeyPEM: key.pemRepresentation)
      var forKeys = good
      forKeys.aud = "keys"
      var otherIssuer = good
      otherIssuer.iss = "other"
      var unknownType = good
      unknownType.sub = "strange.."
      let text = try CompactToken.text(good, signedBy: ours)
      let parts = text.split(separator: ".")
      let none = Data(#"{"alg":"none","kid":"v1"}"#.utf8).base64EncodedString()
        .replacing("=", with: "")
      let uploadToken = try #require(
        try await server.redeem(
          try await server.newCode(), ekeyhmac: RunningServer.keyHMAC.base64EncodedString()
        ).token)
      for forged in [
        "", "a.b.c", "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])",
        try CompactToken.text(good, signedBy: theirs),
        try CompactToken.text(good, signedBy: unknown),
        try CompactToken.text(forKeys, signedBy: ours),
        try CompactToken.text(otherIssuer, signedBy: ours),
        try CompactToken.text(unknownType, signedBy: ours), uploadToken,
      ] + (try Self.impossibleTimes(good).map { try CompactToken.text($0, signedBy: ours) }) {
        #expect(try await server.certify(forged).refusal == "400 token_invalid")
      }
      #expect(try await server.certify(text).status == 200)
    }
  }

  /// Claims with times that no calendar has; arithmetic with them would overflow.
  private static func impossibleTimes(
    _ good: VerificationToken.Claims
  ) throws -> [VerificationToken.Claims] {
    [Int64.max, .max - 1, UploadTokenLimit.unixSecondsMax + 1, -1, .min].flatMap { second in
      var (issued, expires) = (good, good)
      issued.iat = second
      expires.exp = second
      return [issued, expires]
    }
  }

  @Test("A verification token is accepted neither as a certificate nor as an upload token")
  func confusion() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let token = try await server.verified(try await server.issue().code).token
      await #expect(throws: UploadTokenRefusal.self) {
        try await server.verifier.verified(UnverifiedUploadToken(token), at: server.clock.now)
      }
      #expect(throws: UploadTokenRefusal.self) {
        try server.certificates.verified(UnverifiedCertificate(token), at: server.clock.now)
      }
    }
  }

  @Test("If the certificate cannot be signed the token stays valid")
  func signingFails() async throws {
    let first = try SigningKey(
      keyID: "v1", privateKeyPEM: VerificationBench.pem(),
      publishedUntil: VerificationBench.start + 50)
    let second = try SigningKey(
      keyID: "v2", privateKeyPEM: VerificationBench.pem(), signsFrom: VerificationBench.start + 100)
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.signing = UploadTokenIssuer(
          keys: try SigningKeys([first, second]), issuer: "verification", audience: "keys")
      }
    ) { server async throws in
      // The server knows the key of this token, but does not sign with it yet.
      let claims = VerificationToken(
        tokenID: "a", testResult: TestResult(testType: .confirmed),
        issuedAt: VerificationBench.start,
        expiresAt: VerificationBench.start + 600
      ).claims(issuer: "verification")
      let token = try CompactToken.text(claims, signedBy: second)
      server.clock.advance(by: 60)
      #expect(try await server.certify(token).refusal == "503 internal_server_error")
      server.clock.advance(by: 40)
      let other = Data(repeating: 5, count: 32)
      #expect(try await server.certify(token, keyHMAC: other).status == 200)
    }
  }

  @Test("After a key change tokens of the old key are accepted, and the key page shows both keys")
  func rotation() async throws {
    let (old, new) = (VerificationBench.pem(), VerificationBench.pem())
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.signing = UploadTokenIssuer(
          keys: try SigningKeys([
            try SigningKey(
              keyID: "old", privateKeyPEM: old, publishedUntil: VerificationBench.start + 90_000),
            try SigningKey(
              keyID: "new", privateKeyPEM: new, signsFrom: VerificationBench.start + 100),
          ]), issuer: "verification", audience: "keys")
      }
    ) { server async throws in
      let token = try await server.verified(try await server.issue().code).token
      server.clock.advance(by: 100)
      let page = try await server.get(VerificationRoute.keys)
      #expect(page.headers["cache-control"] == "public, max-age=300")
      let keys = try JSONDecoder().decode(JSONWebKeySet.self, from: page.body)
      #expect(keys.keys.map(\.kid) == ["old", "new"])
      let pem = try #require(keys.publicKeysPEM["new"])
      let verifier = CertificateVerifier(authorities: [
        try CertificateAuthority(issuer: "verification", audience: "keys")
          .adding(keyID: "new", publicKeyPEM: pem)
      ])
      let response = try JSONDecoder().decode(
        CertificateResponse.self, from: try await server.certify(token).body)
      _ = try verifier.verified(response.unverified, at: server.clock.now)
      server.clock.advance(by: 89_900)
      let later = try await server.get(VerificationRoute.keys)
      let left = try JSONDecoder().decode(JSONWebKeySet.self, from: later.body)
      #expect(left.keys.map(\.kid) == ["new"])
    }
  }
}

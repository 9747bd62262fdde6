// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Testing

@testable import UploadToken

@Suite("Forged tokens")
struct ForgedTokenTests {
  static let claims = """
    {"iss":"verification","aud":"keys","iat":1800000000,"nbf":1799999940,"exp":1800001800,\
    "jti":"a","reportType":"confirmed"}
    """

  let fixture: TokenFixture

  init() throws {
    fixture = try TokenFixture()
  }

  @Test("A token forged with the right key is accepted (control)")
  func control() async throws {
    #expect(await fixture.refusal(of: try fixture.signed(claims: Self.claims)) == nil)
  }

  @Test("A token without an algorithm is rejected", arguments: ["none", "None", "NONE", ""])
  func noAlgorithm(name: String) async throws {
    let header = #"{"alg":"\#(name)","kid":"v1"}"#
    let unsigned = TokenFixture.forged(header: header, claims: Self.claims) { _ in Data() }
    #expect(await fixture.refusal(of: unsigned) == .wrongSignature)
    let signed = try fixture.signed(claims: Self.claims, header: header)
    #expect(await fixture.refusal(of: signed) == .wrongSignature)
  }

  @Test(
    "A token signed by HMAC with the public key as secret is rejected",
    arguments: ["HS256", "ES256"])
  func publicKeyAsSecret(algorithm: String) async throws {
    let secret = SymmetricKey(data: Data(fixture.key.publicKey.pemRepresentation.utf8))
    let token = TokenFixture.forged(
      header: #"{"alg":"\#(algorithm)","kid":"v1"}"#, claims: Self.claims
    ) { Data(HMAC<SHA256>.authenticationCode(for: $0, using: secret)) }
    #expect(await fixture.refusal(of: token) == .wrongSignature)
  }

  @Test("A signature of zeros or in DER is rejected")
  func strangeSignatures() async throws {
    let header = #"{"alg":"ES256","kid":"v1"}"#
    let zeros = TokenFixture.forged(header: header, claims: Self.claims) { _ in Data(count: 64) }
    #expect(await fixture.refusal(of: zeros) == .wrongSignature)
    let der = try TokenFixture.forged(header: header, claims: Self.claims) {
      try fixture.key.signature(for: $0).derRepresentation
    }
    #expect(await fixture.refusal(of: der) == .wrongSignature)
  }

  @Test("A token with any bit flipped in any character is rejected")
  func bitFlips() async throws {
    let token = try await fixture.issuer.token(for: fixture.grant)
    let bytes = Array(token.utf8)
    for index in bytes.indices {
      for bit in 0..<7 {
        var flipped = bytes
        flipped[index] ^= 1 << bit
        let text = String(decoding: flipped, as: UTF8.self)
        #expect(await fixture.refusal(of: text) != nil, "character \(index), bit \(bit)")
      }
    }
  }

  @Test(
    "A text that is not a token is malformed",
    arguments: ["", ".", "..", "a.b", "a.b.c.d", "e30.e30.e30=", "{}.{}.{}", "ż.ó.ł"])
  func noToken(text: String) async {
    #expect(await fixture.refusal(of: text) == .malformed)
  }

  @Test("A token one character above the limit is malformed")
  func length() async throws {
    let limit = UploadTokenLimit.charactersMax
    for (length, refused) in [(limit - 1, false), (limit, false), (limit + 1, true)] {
      let token = try padded(to: length)
      #expect(token.utf8.count == length)
      #expect(await fixture.refusal(of: token) == (refused ? .malformed : nil))
    }
  }

  @Test(
    "A signed token with incomplete claims is malformed",
    arguments: [
      "{}", "[]", claims.replacing(#""jti":"a""#, with: #""jti":"""#),
      claims.replacing("1800000000", with: "-1"),
      claims.replacing("1800001800", with: "999999999999999"),
      claims.replacing("1800001800", with: "1e99"),
      claims.replacing(#""jti":"a""#, with: #""jti":"a","tekmac":"AAAA""#),
      claims.replacing(#""jti":"a""#, with: #""jti":"a","tekmac":"not base64""#),
      claims.replacing(#""jti":"a""#, with: #""jti":"a","symptomOnsetInterval":-1"#),
    ])
  func brokenClaims(claims: String) async throws {
    #expect(await fixture.refusal(of: try fixture.signed(claims: claims)) == .malformed)
  }

  @Test("The HMAC over keys must have 32 bytes", arguments: [31, 32, 33])
  func hmacLength(count: Int) async throws {
    let hmac = Data(repeating: 1, count: count).base64EncodedString()
    let claims = Self.claims.replacing(#""jti":"a""#, with: #""jti":"a","tekmac":"\#(hmac)""#)
    let refusal = await fixture.refusal(of: try fixture.signed(claims: claims))
    #expect(refusal == (count == UploadTokenLimit.keyHMACBytes ? nil : .malformed))
  }

  @Test("A time claim may be at most the last second of the year 9999", arguments: [-1, 0, 1])
  func lastSecond(offset: Int64) async throws {
    let last: Int64 = 253_402_300_799
    let claims = Self.claims.replacing("1800001800", with: "\(last + offset)")
    let refusal = await fixture.refusal(of: try fixture.signed(claims: claims))
    #expect(refusal == (offset > 0 ? .malformed : nil))
  }

  @Test("A token with a second audience is rejected")
  func twoAudiences() async throws {
    let claims = Self.claims.replacing(#""keys""#, with: #"["keys","other"]"#)
    #expect(await fixture.refusal(of: try fixture.signed(claims: claims)) == .wrongAudience)
  }

  @Test("A header with a critical extension or without a key ID is rejected")
  func headers() async throws {
    let critical = #"{"alg":"ES256","kid":"v1","crit":["x"]}"#
    #expect(
      await fixture.refusal(of: try fixture.signed(claims: Self.claims, header: critical))
        == .malformed)
    let nameless = #"{"alg":"ES256"}"#
    #expect(
      await fixture.refusal(of: try fixture.signed(claims: Self.claims, header: nameless))
        == .unknownKey)
  }

  @Test("The header of one token has no effect on the next")
  func anotherHeader() async throws {
    let (key, time) = (#"{"alg":"ES256","kid":"v1""#, #","typ":"JWT"}"#)
    for (header, refusal) in [
      (key + time, nil), (key + #","crit":["x"]}"#, .malformed), (key + time, nil),
      (#"{"alg":"none","kid":"v1"}"#, .wrongSignature), (key + #","typ":"JWE"}"#, .malformed),
      (#"{"alg":"ES256","kid":"v2"}"#, .unknownKey), (key + "} ", nil), (key + "}", nil),
      ("{", .malformed),
      (key + time, nil),
    ] as [(String, UploadTokenRefusal?)] {
      for _ in 1...2 {
        let token = try fixture.signed(claims: Self.claims, header: header)
        #expect(await fixture.refusal(of: token) == refusal, "\(header)")
      }
    }
  }

  /// A valid token of exactly `length` characters, with a padded `jti` and header.
  private func padded(to length: Int) throws -> String {
    for spaces in 0..<4 {
      let header = #"{"alg":"ES256","kid":"v1""# + String(repeating: " ", count: spaces) + "}"
      for stretch in (length - 400) * 3 / 4 - 300..<length * 3 / 4 {
        let jti = #""jti":"\#(String(repeating: "a", count: stretch))""#
        let claims = Self.claims.replacing(#""jti":"a""#, with: jti)
        let characters = [header.utf8.count, claims.utf8.count, 64].map { ($0 * 4 + 2) / 3 }
        if characters.reduce(2, +) == length {
          return try fixture.signed(claims: claims, header: header)
        }
      }
    }
    return ""
  }
}

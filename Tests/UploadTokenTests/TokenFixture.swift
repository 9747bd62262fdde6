// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TextEncodings
import UploadToken

/// An issuer, a verifier that trusts it, and functions for forging tokens.
struct TokenFixture {
  static let start = Date(timeIntervalSince1970: 1_800_000_000)
  static let lifetime: TimeInterval = 1800

  let key = P256.Signing.PrivateKey()
  let issuer: UploadTokenIssuer
  let verifier: UploadTokenVerifier

  init() throws {
    issuer = try Self.issuer(key)
    verifier = try UploadTokenVerifier(
      issuer: "verification", audience: "keys",
      publicKeysPEM: ["v1": key.publicKey.pemRepresentation])
  }

  static func issuer(
    _ key: P256.Signing.PrivateKey, keyID: String = "v1", issuer: String = "verification",
    audience: String = "keys"
  ) throws -> UploadTokenIssuer {
    try UploadTokenIssuer(
      keyID: keyID, privateKeyPEM: key.pemRepresentation, issuer: issuer, audience: audience)
  }

  var grant: UploadGrant {
    UploadGrant(
      tokenID: "6f1c9a52-0d3e-4b7a-9c11-2f60a1b2c3d4", issuedAt: Self.start,
      expiresAt: Self.start.addingTimeInterval(Self.lifetime), symptomOnsetInterval: 2_999_952,
      keyHMAC: Data(repeating: 0xAB, count: 32))
  }

  /// The reason for rejecting `text` at `moment`, or nil if it is accepted.
  func refusal(of text: String, at moment: Date = Self.start) async -> UploadTokenRefusal? {
    do throws(UploadTokenRefusal) {
      _ = try await verifier.verified(UnverifiedUploadToken(text), at: moment)
      return nil
    } catch {
      return error
    }
  }

  /// A token with any header and claims, signed by `sign`.
  static func forged(
    header: String, claims: String, sign: (Data) throws -> Data
  ) rethrows -> String {
    let input = Data(header.utf8).base64URL + "." + Data(claims.utf8).base64URL
    return input + "." + (try sign(Data(input.utf8)).base64URL)
  }

  /// A token with these claims, signed by the trusted key.
  func signed(claims: String, header: String = #"{"alg":"ES256","kid":"v1"}"#) throws -> String {
    try Self.forged(header: header, claims: claims) {
      try key.signature(for: $0).rawRepresentation
    }
  }

  /// The bytes of one part of a token.
  static func part(_ index: Int, of token: String) -> Data {
    Data(base64URL: token.split(separator: ".")[index]) ?? Data()
  }
}

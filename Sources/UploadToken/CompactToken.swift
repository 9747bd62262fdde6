// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import StrictJSON
import TextEncodings

/// A JSON Web Signature in compact form (RFC 7515 3.1), signed with ES256 (RFC 7518 3.4) only.
///
/// Both servers sign and verify all their tokens with it.
package struct CompactToken: Sendable, Redacted {
  private let header: CompactHeader
  private let payload: [UInt8]
  private let signature: [UInt8]
  private let signedText: [UInt8]

  /// Parses `text` without verifying it: three parts of strict unpadded base64url.
  ///
  /// - Throws: `.malformed`, or `.unknownKey` if the header has no key ID.
  package init(_ text: String) throws(UploadTokenRefusal) {
    guard text.utf8.count <= UploadTokenLimit.charactersMax else { throw .malformed }
    let text = text[...].utf8
    // An extra dot fails base64url decoding below.
    guard let first = text.firstIndex(of: Self.dot), let last = text.lastIndex(of: Self.dot),
      first < last, let payload = Base64.urlBytes(text[first..<last].dropFirst()),
      let signature = Base64.urlBytes(text[last...].dropFirst())
    else { throw .malformed }
    header = try CompactHeader(text[..<first])
    self.payload = payload
    self.signature = signature
    signedText = Array(text[..<last])
  }

  private static let dot = UInt8(ascii: ".")

  /// The key ID in the header.
  package var keyID: String { header.keyID }

  /// True if the algorithm in the header is ES256. Check it before looking up the key.
  package var isES256: Bool { header.isES256 }

  /// The unverified claims. Use them only to select the key for the verification.
  package func hint<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
    JSONDecoder().decodeIfValid(type, from: Data(payload))
  }

  /// The same as `hint(CertificateClaims.self)`, but faster.
  var certificateHint: CertificateClaims? {
    CertificateClaims.fastRead(payload) ?? hint(CertificateClaims.self)
  }

  /// Verifies the signature, then decodes the claims.
  ///
  /// - Throws: `.wrongSignature`, or `.malformed` if the claims are not of this type.
  package func claims<Claims: Decodable>(
    _ type: Claims.Type, signedBy key: P256.Signing.PublicKey
  ) throws(UploadTokenRefusal) -> Claims {
    try checkSignature(by: key)
    guard let claims = hint(type) else { throw .malformed }
    return claims
  }

  /// Verifies that `key` signed the token with ES256.
  ///
  /// - Throws: `.wrongSignature`.
  func checkSignature(by key: P256.Signing.PublicKey) throws(UploadTokenRefusal) {
    guard isES256,
      // Bytes without the form of a signature are a wrong one.
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
      key.isValidSignature(signature, for: signedText)
    else { throw .wrongSignature }
  }

  /// Signs `claims` with `key`. The header is `{"alg":"ES256","kid":…,"typ":"JWT"}`.
  ///
  /// A key on a token blocks the thread.
  ///
  /// - Throws: The error of the encoder or of the signature.
  package static func text(_ claims: some Encodable, signedBy key: SigningKey) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let header = try encoder.encode(["alg": "ES256", "typ": "JWT", "kid": key.keyID])
    let input = header.base64URL + "." + (try encoder.encode(claims).base64URL)
    let signature = try key.signer.signature(for: SHA256.hash(data: Data(input.utf8)))
    return input + "." + signature.rawRepresentation.base64URL
  }
}

/// The header of a token, parsed before the token is verified.
private struct CompactHeader {
  let keyID: String
  let isES256: Bool

  init(_ text: Substring.UTF8View) throws(UploadTokenRefusal) {
    guard let bytes = Base64.urlBytes(text), let fields = Fields.read(bytes) else {
      throw .malformed
    }
    // RFC 7515 4.1.11: a token with an extension that we do not implement must be rejected.
    guard fields.crit == nil, fields.typ == nil || fields.typ == "JWT" else { throw .malformed }
    isES256 = fields.alg == "ES256"
    guard let kid = fields.kid else { throw .unknownKey }
    keyID = kid
  }

  private struct Fields: Decodable {
    var alg: String
    var kid: String?
    var typ: String?
    var crit: [String]?

    /// Decodes the usual header quickly and any other with `JSONDecoder`.
    static func read(_ bytes: [UInt8]) -> Fields? {
      fastRead(bytes) ?? JSONDecoder().decodeIfValid(Fields.self, from: Data(bytes))
    }

    private static func fastRead(_ bytes: [UInt8]) -> Fields? {
      var fields = Fields(alg: "")
      var hasAlgorithm = false
      var cursor = JSONCursor(bytes)
      do throws(StrictJSONError) {
        try cursor.object(["alg", "kid", "typ"]) { (field, cursor) throws(StrictJSONError) in
          switch field {
          case 0: (fields.alg, hasAlgorithm) = (try cursor.string(), true)
          case 1: fields.kid = try cursor.string()
          default: fields.typ = try cursor.string()
          }
        }
        try cursor.end()
      } catch {
        return nil
      }
      return hasAlgorithm ? fields : nil
    }
  }
}

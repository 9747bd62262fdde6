import Crypto
import Foundation

/// A JSON Web Signature in compact form (RFC 7515 3.1), signed with ES256 (RFC 7518 3.4) and nothing
/// else. Everything either server signs or believes goes through here.
///
/// Documentation/Decisions/0012-one-signature-for-tokens.md.
package struct CompactToken: Sendable {
  private let header: CompactHeader
  private let payload: [UInt8]
  private let signature: [UInt8]
  private let signedText: [UInt8]

  /// Takes `text` apart and believes none of it. It must be exactly what RFC 7515 writes: three parts
  /// of unpadded base64url without spare bits, so that one grant has one text.
  ///
  /// - Throws: `.malformed`; `.unknownKey` where the header names no key.
  package init(_ text: String) throws(UploadTokenRefusal) {
    guard text.utf8.count <= UploadTokenLimit.charactersMax else { throw .malformed }
    let text = text[...].utf8
    // A dot too many is no digit of the part that it stands in.
    guard let first = text.firstIndex(of: Self.dot), let last = text.lastIndex(of: Self.dot),
      first < last, let payload = Base64URL.bytes(text[first..<last].dropFirst()),
      let signature = Base64URL.bytes(text[last...].dropFirst())
    else { throw .malformed }
    header = try CompactHeader.reading(text[..<first])
    self.payload = payload
    self.signature = signature
    signedText = Array(text[..<last])
  }

  private static let dot = UInt8(ascii: ".")

  /// The id of the key that is said to have signed it.
  package var keyID: String { header.keyID }

  /// Whether the header says ES256; a verifier asks before it looks for a key.
  package var isES256: Bool { header.isES256 }

  /// What the claims say, not yet believed: good for choosing whose key to check with, nothing else.
  package func hint<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
    try? JSONDecoder().decode(type, from: Data(payload))
  }

  /// What the claims of a certificate say, read as `hint` reads them.
  var certificateHint: CertificateClaims? {
    PlainClaims.read(payload) ?? hint(CertificateClaims.self)
  }

  /// The claims, read only after the signature over them holds.
  ///
  /// - Throws: `.wrongSignature`; `.malformed` where the claims are not of this type.
  package func claims<Claims: Decodable>(
    _ type: Claims.Type, signedBy key: P256.Signing.PublicKey
  ) throws(UploadTokenRefusal) -> Claims {
    try checkSignature(by: key)
    guard let claims = hint(type) else { throw .malformed }
    return claims
  }

  /// Refuses the token unless `key` signed it with ES256. What `hint` gives may be believed from then on.
  ///
  /// - Throws: `.wrongSignature`.
  func checkSignature(by key: P256.Signing.PublicKey) throws(UploadTokenRefusal) {
    guard isES256,
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
      key.isValidSignature(signature, for: signedText)
    else { throw .wrongSignature }
  }

  /// The text that says `claims` under `key`.
  ///
  /// - Throws: where the claims cannot be written or the key does not sign.
  package static func text(_ claims: some Encodable, signedBy key: SigningKey) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let header = try encoder.encode(["alg": "ES256", "typ": "JWT", "kid": key.keyID])
    let said = Base64URL.text(header) + "." + Base64URL.text(try encoder.encode(claims))
    let signature = try key.privateKey.signature(for: Data(said.utf8))
    return said + "." + Base64URL.text(signature.rawRepresentation)
  }
}

extension CompactToken: CustomStringConvertible, CustomReflectable {
  /// Whoever reads a token can use it.
  package var description: String { "CompactToken" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

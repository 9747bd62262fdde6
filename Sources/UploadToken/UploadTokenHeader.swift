import Foundation

/// The first part of a token, read before anything in it is believed.
///
/// The text must be exactly what RFC 7515 writes: three parts of unpadded base64url without spare
/// bits, so that one grant has one text.
struct UploadTokenHeader {
  let keyID: String
  let isES256: Bool

  init(of token: UnverifiedUploadToken) throws(UploadTokenRefusal) {
    guard token.text.utf8.count <= UploadTokenLimit.charactersMax else { throw .malformed }
    let parts = token.text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.bytes(parts[0]), Self.bytes(parts[1]) != nil,
      Self.bytes(parts[2]) != nil,
      let fields = try? JSONDecoder().decode(Fields.self, from: header)
    else { throw .malformed }
    // A token that asks us to understand an extension (RFC 7515 4.1.11) is not one of ours.
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
  }

  /// The bytes of `part`, or nil where another text would have said the same.
  private static func bytes(_ part: Substring) -> Data? {
    let standard = part.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
    guard let bytes = Data(base64Encoded: standard + padding) else { return nil }
    let again = bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    return again.prefix { $0 != "=" } == part ? bytes : nil
  }
}

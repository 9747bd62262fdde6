import Foundation

/// The first part of a token, read before anything in it is believed.
struct CompactHeader {
  let keyID: String
  let isES256: Bool

  init(_ bytes: Data) throws(UploadTokenRefusal) {
    guard let fields = try? JSONDecoder().decode(Fields.self, from: bytes) else { throw .malformed }
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
}

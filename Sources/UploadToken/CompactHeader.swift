import Foundation
import Synchronization

/// The first part of a token, read before anything in it is believed.
struct CompactHeader {
  let keyID: String
  let isES256: Bool

  /// The header of a token, by the text of its first part.
  ///
  /// Nearly every token has the header of the one before it, letter for letter: one authority signs with one
  /// key for weeks. So the latest is kept; what it says depends on its text and on nothing else.
  static func reading(_ text: Substring.UTF8View) throws(UploadTokenRefusal) -> CompactHeader {
    if let latest = latest.withLock({ $0 }), latest.text.elementsEqual(text) {
      return latest.header
    }
    guard let bytes = Base64URL.bytes(text) else { throw .malformed }
    let header = try CompactHeader(Data(bytes))
    latest.withLock { $0 = (Array(text), header) }
    return header
  }

  private static let latest = Mutex<(text: [UInt8], header: CompactHeader)?>(nil)

  private init(_ bytes: Data) throws(UploadTokenRefusal) {
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

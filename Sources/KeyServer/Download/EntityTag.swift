import Crypto
import Foundation

/// Names one state of a document, so that whoever has it need not fetch it again (RFC 9110, 8.8.3).
struct EntityTag: Hashable, Sendable {
  /// The tag with its quotes.
  let text: String

  /// The tag of `data`.
  init(of data: Data) {
    let digest = SHA256.hash(data: data).prefix(16)
    text = "\"" + Data(digest).base64EncodedString() + "\""
  }

  /// The tag of a file that is only ever replaced whole; nil where it is not there.
  init?(ofFile url: URL) {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path),
      let size = attributes[.size] as? NSNumber, let date = attributes[.modificationDate] as? Date
    else { return nil }
    text = "\"\(size.int64Value)-\(Int64(date.timeIntervalSince1970 * 1_000))\""
  }

  /// Whether the client's `If-None-Match` holds it.
  func matches(_ header: String?) -> Bool {
    guard let header else { return false }
    return header.split(separator: ",").contains { candidate in
      let tag = candidate.trimmingCharacters(in: .whitespaces)
      return tag == text || tag == "W/" + text || tag == "*"
    }
  }
}

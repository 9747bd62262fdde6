import CZlib
import Foundation

/// The coding `deflate` of answers (RFC 9110, 8.4.1.2): it reduces the texts of the web app to a third.
enum ContentCoding {
  /// The size from which a body is compressed, in bytes. Below it the headers weigh more.
  private static let bytesMin = 1_024

  /// Returns `true` if the value of `Accept-Encoding` names the coding.
  static func isAccepted(by header: String?) -> Bool {
    (header ?? "").split(separator: ",").contains { item in
      let parts = item.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      return parts.first?.lowercased() == "deflate" && !parts.dropFirst().contains("q=0")
    }
  }

  /// `content` compressed; `nil` if that saves nothing.
  static func deflated(_ content: Data) -> Data? {
    guard content.count >= bytesMin else { return nil }
    var count = compressBound(uLong(content.count))
    var room = [UInt8](repeating: 0, count: Int(count))
    let status = content.withUnsafeBytes { content in
      compress2(
        &room, &count, content.baseAddress?.assumingMemoryBound(to: UInt8.self),
        uLong(content.count), Z_DEFAULT_COMPRESSION)
    }
    guard status == Z_OK, count < content.count else { return nil }
    return Data(room.prefix(Int(count)))
  }

  /// The entity tag of the compressed form: each form of a document has its own (RFC 9110, 8.8.3.3).
  static func tag(of tag: String) -> String { tag.dropLast() + "-d\"" }
}

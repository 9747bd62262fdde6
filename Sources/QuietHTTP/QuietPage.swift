import Foundation
import Hummingbird

/// A page that is the same for everybody and holds no secret, such as a server's public keys.
public struct QuietPage: Sendable {
  private let body: Data
  private let maxAgeSeconds: Int

  /// The page that `value` encodes to, good for `maxAgeSeconds`.
  ///
  /// - Throws: `EncodingError`.
  public init(_ value: some Encodable, maxAgeSeconds: Int) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    body = try encoder.encode(value)
    self.maxAgeSeconds = maxAgeSeconds
  }

  var response: Response {
    Response(
      status: .ok,
      headers: [
        .contentType: "application/json; charset=utf-8",
        .cacheControl: "public, max-age=\(maxAgeSeconds)", .contentLength: "\(body.count)",
      ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}

import Foundation
import World

/// How long the app's requests are, whatever is in them: one length for each route, so that nobody
/// on the way can tell an upload from a decoy. Documentation/App.md 5.6.
enum RequestPadding {
  /// The body of a token request, in bytes.
  static let tokenRequestBytes = 1 << 10
  /// The body of an upload, in bytes: thirty keys, a token and a device's word fit.
  static let uploadBytes = 24 << 10

  /// The JSON of `request`, with so much padding that the body has `length` bytes.
  static func body<Request: Encodable>(
    _ request: Request, length: Int, randomness: any Randomness,
    padded: (Request, String) -> Request
  ) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bare = try encoder.encode(padded(request, ""))
    let missing = max(length - bare.count, 0)
    return try encoder.encode(padded(request, letters(missing, randomness)))
  }

  /// `count` random letters: the base64 alphabet without what JSON might write otherwise.
  static func letters(_ count: Int, _ randomness: any Randomness) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef".utf8)
    return String(
      decoding: randomness.bytes(count).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
  }
}

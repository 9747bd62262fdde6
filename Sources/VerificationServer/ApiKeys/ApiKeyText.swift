import Foundation
import World

/// An API key as its holder shows it: the key's id, a dot, and the secret.
struct ApiKeyText: Sendable {
  let id: ApiKeyID
  /// The whole text; only its mark is kept.
  let text: String

  /// The key in `header`, where it looks like one.
  init?(_ header: String?) {
    guard let header, header.utf8.count == Self.characterCount else { return nil }
    let id = header.utf8.prefix(Self.idCharacters)
    let dot = header.utf8.dropFirst(Self.idCharacters).first
    guard id.allSatisfy(Self.hex.contains), dot == UInt8(ascii: ".") else { return nil }
    self.id = ApiKeyID(text: String(decoding: id, as: UTF8.self))
    text = header
  }

  /// A new key.
  init(from randomness: any Randomness) {
    let idText = randomness.bytes(Self.idCharacters / 2).map { String(format: "%02x", $0) }.joined()
    let secret = Data(randomness.bytes(Self.secretBytes)).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    id = ApiKeyID(text: idText)
    text = "\(idText).\(secret)"
  }

  static let characterCount = idCharacters + 1 + 43
  private static let idCharacters = 16
  private static let secretBytes = 32
  private static let hex = Set("0123456789abcdef".utf8)
}

extension ApiKeyText: CustomStringConvertible, CustomReflectable {
  var description: String { "ApiKeyText" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

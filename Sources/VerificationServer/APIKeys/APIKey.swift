import Foundation
import World

/// An API key as it is kept: a mark instead of the secret.
struct ApiKeyRecord: Hashable, Sendable {
  var id: ApiKeyID
  var kind: ApiKeyKind
  /// Who holds it, as an official named them.
  var name: String
  /// HMAC of the whole key under the server's secret.
  var mark: Data
  var createdAt: Date
  var revokedAt: Date?
}

extension ApiKeyRecord: CustomStringConvertible, CustomReflectable {
  var description: String { "ApiKeyRecord(\(id.text))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Names an API key; not a secret.
struct ApiKeyID: Hashable, Sendable {
  /// Sixteen lower-case hex digits.
  let text: String
}

/// What the holder of an API key may do.
package enum ApiKeyKind: String, Sendable, CaseIterable {
  /// An app: verifies codes and gets certificates.
  case device
  /// The health authority's own systems: issue codes, and end them.
  case admin
  /// Reads `/api/stats` of Google's verification server, which this one does not have: it opens nothing. It is
  /// here so that databases that hold such a key can be read.
  case stats

  /// Those that open a route, of which new keys are made.
  package static let offered: [ApiKeyKind] = [.device, .admin]
}

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

/// An API key as a list of them shows it: never the key itself.
package struct ApiKeyEntry: Sendable, Hashable {
  /// Sixteen lower-case hex digits, the beginning of the key.
  package let id: String
  /// What its holder may do.
  package let kind: ApiKeyKind
  /// Who holds it.
  package let name: String
  /// When it was made.
  package let createdAt: Date
  /// When it was revoked, where it was.
  package let revokedAt: Date?

  init(_ record: ApiKeyRecord) {
    id = record.id.text
    kind = record.kind
    name = record.name
    createdAt = record.createdAt
    revokedAt = record.revokedAt
  }
}

import Foundation
import Secrets
import World

/// An API key as it is stored: with a hash instead of the secret.
struct APIKeyRecord: Hashable, Sendable {
  var id: APIKeyID
  var kind: APIKeyKind
  /// The name of the holder.
  var name: String
  /// The keyed hash of the whole key.
  var hash: Data
  var createdAt: Date
  var revokedAt: Date?
}

extension APIKeyRecord: Redacted {
  var description: String { "APIKeyRecord(\(id.text))" }
}

/// The public part of an API key.
struct APIKeyID: Hashable, Sendable {
  /// Sixteen lower-case hex digits.
  let text: String
}

/// The permissions of an API key.
package enum APIKeyKind: String, Sendable, CaseIterable {
  /// An app, which verifies codes and gets certificates.
  case device
  /// The health authority's systems, which issue, check and end codes.
  case admin
  /// Programs that read the numbers of codes, and nothing else.
  case stats
}

/// An API key as a client sends it: its ID, a dot, and the secret.
struct APIKeyText: Sendable, Redacted {
  let id: APIKeyID
  let text: String

  /// Returns nil if `header` does not have the form of a key.
  init?(_ header: String?) {
    guard let header, header.utf8.count == Self.characterCount else { return nil }
    let id = header.utf8.prefix(Self.idCharacters)
    let dot = header.utf8.dropFirst(Self.idCharacters).first
    guard id.allSatisfy(Self.hex.contains), dot == UInt8(ascii: ".") else { return nil }
    self.id = APIKeyID(text: String(decoding: id, as: UTF8.self))
    text = header
  }

  /// Creates a random key.
  init(from randomness: any Randomness) {
    let idText = randomness.bytes(Self.idCharacters / 2).map { String(format: "%02x", $0) }.joined()
    let secret = Data(randomness.bytes(Self.secretBytes)).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    id = APIKeyID(text: idText)
    text = "\(idText).\(secret)"
  }

  static let characterCount = idCharacters + 1 + 43
  private static let idCharacters = 16
  private static let secretBytes = 32
  private static let hex = Set("0123456789abcdef".utf8)
}

/// An API key in a list, without its secret.
package struct APIKeyEntry: Sendable, Hashable {
  /// Sixteen lower-case hex digits, the first part of the key.
  package let id: String
  /// The permissions of the key.
  package let kind: APIKeyKind
  /// The name of the holder.
  package let name: String
  /// The date of creation.
  package let createdAt: Date
  /// The date of revocation if the key was revoked.
  package let revokedAt: Date?

  init(_ record: APIKeyRecord) {
    id = record.id.text
    kind = record.kind
    name = record.name
    createdAt = record.createdAt
    revokedAt = record.revokedAt
  }
}

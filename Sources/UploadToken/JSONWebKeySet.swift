import Foundation

/// The page of an issuer's public keys: `{"keys": […]}` (RFC 7517, section 5).
public struct JSONWebKeySet: Codable, Hashable, Sendable {
  /// The keys, oldest first.
  public var keys: [JSONWebKey]

  /// The set of `keys`.
  public init(keys: [JSONWebKey]) {
    self.keys = keys
  }

  /// Reads a set, or the bare list of keys that Google's verification server publishes.
  public init(from decoder: any Decoder) throws {
    if let list = try? decoder.singleValueContainer().decode([JSONWebKey].self) {
      keys = list
    } else {
      keys = try decoder.container(keyedBy: CodingKeys.self).decode(
        [JSONWebKey].self, forKey: .keys)
    }
  }

  /// The keys that have an id and that we can check signatures with, as PEM by id.
  public var publicKeysPEM: [String: String] {
    let pairs = keys.compactMap { key in
      key.kid.flatMap { id in key.publicKeyPEM.map { (id, $0) } }
    }
    return Dictionary(pairs) { first, _ in first }
  }
}

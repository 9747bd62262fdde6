import Foundation

/// The page of an issuer's public keys: `{"keys": […]}` (RFC 7517, section 5).
public struct JSONWebKeySet: Codable, Hashable, Sendable {
  /// The keys, oldest first.
  public var keys: [JSONWebKey]

  /// The set of `keys`.
  public init(keys: [JSONWebKey]) {
    self.keys = keys
  }

  /// Reads a set, or the bare list of keys that Google's verification server publishes. Keys that are not
  /// understood, such as those of RSA, are passed over (RFC 7517, section 5).
  public init(from decoder: any Decoder) throws {
    let entries: [Entry]
    if let list = try? decoder.singleValueContainer().decode([Entry].self) {
      entries = list
    } else {
      entries = try decoder.container(keyedBy: CodingKeys.self).decode([Entry].self, forKey: .keys)
    }
    keys = entries.compactMap(\.key)
  }

  /// The keys that have an id and that we can check signatures with, as PEM by id. Of two under one
  /// id the first counts: a token names its key by the id alone, and only one can be meant.
  public var publicKeysPEM: [String: String] {
    let pairs = keys.compactMap { key -> (String, String)? in
      guard let id = key.kid, !id.isEmpty, let pem = key.publicKeyPEM else { return nil }
      return (id, pem)
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// What stands in the list, be it a key that is understood or not.
  private struct Entry: Decodable {
    let key: JSONWebKey?

    init(from decoder: any Decoder) {
      key = try? JSONWebKey(from: decoder)
    }
  }
}

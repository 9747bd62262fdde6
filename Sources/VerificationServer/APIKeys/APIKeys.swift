import Foundation
import Secrets
import World

/// The API keys of Google's contract: creates, lists, revokes and checks them.
///
/// Keys can be created and revoked while a server runs on the same database.
package struct APIKeys: Sendable {
  private let storage: any CodeStorage
  private let keys: CodeKeys
  private let clock: any WallClock
  private let randomness: any Randomness

  init(
    storage: any CodeStorage, keys: CodeKeys, clock: any WallClock, randomness: any Randomness
  ) {
    self.storage = storage
    self.keys = keys
    self.clock = clock
    self.randomness = randomness
  }

  /// Creates a key of `kind` and returns its text, of which only the hash is stored.
  ///
  /// - Throws: `VerificationServerError` if the name is invalid or the database is not available.
  package func add(kind: APIKeyKind, name: String) async throws -> String {
    guard VerificationLimit.apiKeyNameCharacters.contains(name.count) else {
      let lengths = VerificationLimit.apiKeyNameCharacters
      throw VerificationServerError.badConfiguration(
        "name: must have \(lengths.lowerBound) to \(lengths.upperBound) characters.")
    }
    let key = APIKeyText(from: randomness)
    try await storage.add(
      APIKeyRecord(
        id: key.id, kind: kind, name: name, hash: keys.hash(of: Data(key.text.utf8), for: .apiKey),
        createdAt: clock.now))
    return key.text
  }

  /// Returns all keys, revoked or not, oldest first.
  package func list() async throws -> [APIKeyEntry] {
    try await storage.apiKeys().map(APIKeyEntry.init)
  }

  /// Revokes the key with `id`; returns false if it does not exist.
  package func revoke(_ id: String) async throws -> Bool {
    try await storage.revokeAPIKey(APIKeyID(text: id), at: clock.now)
  }

  /// Returns the ID of the key in `header` if it is a valid key of one of `kinds`.
  ///
  /// An unknown ID, a wrong secret, another kind and a revoked key take the same steps: the hash is
  /// computed and compared in constant time in every case.
  func holder(of header: String?, kinds: Set<APIKeyKind>) async throws -> APIKeyID? {
    let presented = APIKeyText(header)
    let record = try await storage.apiKey(presented?.id ?? APIKeyID(text: ""))
    let hash = keys.hash(of: Data((header ?? "").utf8), for: .apiKey)
    let stored = record?.hash ?? Data(repeating: 0, count: hash.count)
    let isEqual = isEqualInConstantTime(hash, stored)
    guard isEqual, let record, kinds.contains(record.kind), record.revokedAt == nil else {
      return nil
    }
    return record.id
  }
}

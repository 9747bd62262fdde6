import Crypto
import Foundation
import World

/// Where API keys are made and revoked, beside a server that may be running.
///
/// Documentation/VerificationServer.md 6.
package struct ApiKeyDesk: Sendable {
  private let storage: any CodeStorage
  private let keys: CodeKeys
  private let clock: any WallClock
  private let randomness: any Randomness

  /// A desk on the database and the secret of the server that `configuration` sets up.
  ///
  /// - Throws: `VerificationServerError` where the configuration does not make sense or the database
  ///   cannot be opened.
  package init(
    configuration: VerificationServerConfiguration, clock: any WallClock,
    randomness: any Randomness
  ) throws {
    self.init(
      storage: try SQLiteCodeStorage(file: configuration.databaseFile),
      keys: try configuration.validatedKeys(), clock: clock, randomness: randomness)
  }

  init(
    storage: any CodeStorage, keys: CodeKeys, clock: any WallClock, randomness: any Randomness
  ) {
    self.storage = storage
    self.keys = keys
    self.clock = clock
    self.randomness = randomness
  }

  /// A new key of `kind` for whoever `name` says. Its text is shown this once: only its mark is kept.
  ///
  /// - Throws: `VerificationServerError`, of the name or of the database.
  package func add(kind: ApiKeyKind, name: String) async throws -> String {
    guard VerificationLimit.apiKeyNameCharacters.contains(name.count) else {
      let lengths = VerificationLimit.apiKeyNameCharacters
      throw VerificationServerError.badConfiguration(
        "name: must have \(lengths.lowerBound) to \(lengths.upperBound) characters.")
    }
    let key = ApiKeyText(from: randomness)
    try await storage.add(
      ApiKeyRecord(
        id: key.id, kind: kind, name: name, mark: keys.mark(of: Data(key.text.utf8), as: .apiKey),
        createdAt: clock.now))
    return key.text
  }

  /// Every key there is and was, oldest first.
  package func list() async throws -> [ApiKeyEntry] {
    try await storage.apiKeys().map(ApiKeyEntry.init)
  }

  /// Ends the key of `id`; false where there is none.
  package func revoke(_ id: String) async throws -> Bool {
    try await storage.revokeApiKey(ApiKeyID(text: id), at: clock.now)
  }
}

/// Tells the holders of API keys from others.
struct ApiKeyCheck: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys

  /// The id of the key in `header`, where there is such a key of `kind` that was not revoked.
  ///
  /// An unknown id, a wrong secret, another kind and a revoked key take the same steps: the mark of what
  /// was shown is computed and compared, in constant time, whatever was found.
  func holder(of header: String?, kind: ApiKeyKind) async throws -> ApiKeyID? {
    let shown = ApiKeyText(header)
    let record = try await storage.apiKey(shown?.id ?? Self.noID)
    let mark = keys.mark(of: Data((header ?? "").utf8), as: .apiKey)
    let kept = record?.mark ?? Data(repeating: 0, count: mark.count)
    let isEqual = SymmetricKey(data: mark) == SymmetricKey(data: kept)
    guard isEqual, let record, record.kind == kind, record.revokedAt == nil else { return nil }
    return record.id
  }

  private static let noID = ApiKeyID(text: "")
}

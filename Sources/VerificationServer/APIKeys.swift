// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Secrets
import TextEncodings
import World

/// The API keys of Google's contract: creates, lists, revokes and checks them.
///
/// Keys can be created and revoked while a server runs on the same database.
package struct APIKeys: Sendable {
  private let storage: any CodeStorage
  private let keys: CodeKeys
  private let clock: any WallClock
  private let randomness: any Randomness

  /// The name of the console's key, whose external issuers are officials.
  package static let consoleName = "console"

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

  /// Returns all keys, revoked or not, oldest first. If their codes cannot be counted, the counts are missing.
  ///
  /// - Parameter countsLiveCodes: False to leave the live codes out, whose count reads all of them.
  package func list(countsLiveCodes: Bool = true) async throws -> [APIKeyEntry] {
    // A stolen key must be found and revoked, and a server start, also if the table of the codes is damaged.
    let live = countsLiveCodes ? try? await storage.liveCounts(at: clock.now) : nil
    // Nor must a damaged table of the counts hide a key.
    let issued = try? await issuedToday()
    return try await storage.apiKeys().map { record in
      var entry = APIKeyEntry(record, liveCodes: live.map { $0[record.id] ?? 0 })
      entry.issuedToday = issued.map { $0[record.id.text] ?? 0 }
      return entry
    }
  }

  /// The numbers of codes that were issued on the present day in UTC, by the ID of the key.
  private func issuedToday() async throws -> [String: Int] {
    let today = CodeCounts.day(of: clock.now.unixSecond)
    let counts = try await storage.issuerCounts(on: today).filter { $0.kind == .apiKey }
    return Dictionary(counts.map { ($0.name, $0.issued) }) { $1 }
  }

  /// Revokes the key with `id`; returns false if it does not exist.
  package func revoke(_ id: String) async throws -> Bool {
    try await storage.revokeAPIKey(APIKeyID(text: id), at: clock.now)
  }

  /// Ends the live codes that were issued with a key and are not redeemed.
  ///
  /// - Parameter id: The id of the API key; nil for the codes that were issued with API tokens.
  /// - Returns: Their number.
  package func endCodes(of id: String?) async throws -> Int {
    try await storage.expireCodes(of: id.map { APIKeyID(text: $0) }, at: clock.now)
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

extension APIKeys {
  /// Opens the API keys in the database of the server that `configuration` describes.
  ///
  /// - Throws: `VerificationServerError` if the configuration is invalid or the database cannot be
  ///   opened.
  package init(
    configuration: VerificationServerConfiguration, clock: any WallClock,
    randomness: any Randomness
  ) throws {
    let keys = try configuration.validatedKeys()
    self.init(
      storage: try configuration.storage(
        keys, logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() }),
      keys: keys, clock: clock, randomness: randomness)
  }
}

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

/// The permissions of an API key.
package enum APIKeyKind: String, Sendable, CaseIterable {
  /// An app, which verifies codes and gets certificates.
  case device
  /// The health authority's systems, which issue, check and end codes.
  case admin
  /// `firebreak canary`, which issues codes that no number counts.
  case canary
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
    let idText = randomness.bytes(Self.idCharacters / 2).hexadecimal
    let secret = Data(randomness.bytes(Self.secretBytes)).base64URL
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
  /// The number of codes issued with the key that can still be redeemed; nil if the codes cannot be read.
  package let liveCodes: Int?
  /// The number of codes issued with the key on the present day in UTC; nil if it cannot be read.
  package internal(set) var issuedToday: Int?

  init(_ record: APIKeyRecord, liveCodes: Int?) {
    self.liveCodes = liveCodes
    id = record.id.text
    kind = record.kind
    name = record.name
    createdAt = record.createdAt
    revokedAt = record.revokedAt
  }
}

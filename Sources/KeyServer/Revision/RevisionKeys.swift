// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import Secrets
import ServerStorage
import Synchronization
import TextEncodings
import World

/// Caches the keys of revision tokens, makes a new one every week and removes those that are not needed.
final class RevisionKeys: Sendable {
  private let store: any KeyStore
  private let wrappingKey: SymmetricKey
  private let context: Data
  private let clock: any WallClock
  private let time: TrustedTime
  private let randomness: any Randomness
  private let latest = Mutex<(ring: RevisionKeyring, readAt: Date)?>(nil)

  init(
    store: any KeyStore, wrappingKey: SymmetricKey, context: Data, clock: any WallClock,
    time: TrustedTime, randomness: any Randomness
  ) {
    self.store = store
    self.wrappingKey = wrappingKey
    self.context = context
    self.clock = clock
    self.time = time
    self.randomness = randomness
  }

  /// The keyring, at most a minute old.
  ///
  /// - Throws: If the database fails, or if its keys were encrypted with another wrapping key.
  func keyring() async throws -> RevisionKeyring {
    let now = clock.now
    let cached = latest.withLock { $0 }
    if let cached, cached.readAt <= now,
      now.timeIntervalSince(cached.readAt) < RevisionLimit.keyringAgeSecondsMax
    {
      return cached.ring
    }
    // Two concurrent requests may both make a key. Then both are valid, and the newer one encrypts.
    var sealed = try await store.revisionKeys()
    if Self.current(of: sealed, at: now).map({ Self.isTooOld($0, at: now) }) ?? true {
      let id = randomness.bytes(8).hexadecimal
      let key = SymmetricKey(data: randomness.bytes(32))
      let fresh = try SealedRevisionKey(
        id: id, key, under: wrappingKey, effectiveFrom: now, randomness: randomness)
      // Without a trusted time no key is deleted: its tokens could not be decrypted any more.
      let unneeded = (try? await time.now()).map { Self.unneeded(in: sealed + [fresh], at: $0) }
      try await store.add(fresh, forgetting: unneeded ?? [])
      sealed = try await store.revisionKeys()
    }
    let ring = try ring(of: sealed, at: now)
    latest.withLock { $0 = (ring, now) }
    return ring
  }

  private func ring(of sealed: [SealedRevisionKey], at now: Date) throws -> RevisionKeyring {
    let keys = try sealed.map { ($0.id, try $0.opened(with: wrappingKey)) }
    let byID = Dictionary(keys) { $1 }
    guard let current = Self.current(of: sealed, at: now), let key = byID[current.id] else {
      throw CryptoKitError.incorrectKeySize
    }
    return RevisionKeyring(current: (current.id, key), keys: byID, context: context)
  }

  /// The newest key that is in use; if the clock was set back before all of them, the oldest key.
  private static func current(
    of keys: [SealedRevisionKey], at now: Date
  ) -> SealedRevisionKey? {
    let sorted = keys.sorted { ($0.effectiveFrom, $0.id) < ($1.effectiveFrom, $1.id) }
    return sorted.last { $0.effectiveFrom <= now } ?? sorted.first
  }

  private static func isTooOld(_ key: SealedRevisionKey, at now: Date) -> Bool {
    now.timeIntervalSince(key.effectiveFrom) >= RevisionLimit.keyUseSeconds
  }

  /// Keys whose successor has been in use for so long that their tokens cover only expired keys.
  private static func unneeded(in keys: [SealedRevisionKey], at now: Date) -> [String] {
    let sorted = keys.sorted { $0.effectiveFrom < $1.effectiveFrom }
    return zip(sorted, sorted.dropFirst()).compactMap { key, successor in
      now.timeIntervalSince(successor.effectiveFrom) >= RevisionLimit.keyAfterlifeSeconds
        ? key.id : nil
    }
  }
}

/// The keys that decrypt revision tokens, and the one that encrypts new ones.
struct RevisionKeyring: Redacted, Sendable {
  let current: (id: String, key: SymmetricKey)
  let keys: [String: SymmetricKey]
  /// The server's constant that every token is bound to.
  let context: Data

  /// The keyring of the tokens of a realm. Those of the other authorities are invalid with it, and those of the realm
  /// with every other keyring.
  func bound(toRealm issuer: String) -> RevisionKeyring {
    RevisionKeyring(current: current, keys: keys, context: context + [0] + Data(issuer.utf8))
  }

  var description: String { "RevisionKeyring(\(keys.count) keys)" }
}

/// A key of revision tokens in the database: encrypted with the wrapping key, which is stored elsewhere.
struct SealedRevisionKey: Redacted, Hashable, Sendable {
  let id: String
  let sealed: Data
  /// The time from which it encrypts new tokens.
  let effectiveFrom: Date

  /// The size of a nonce, in bytes.
  static let nonceBytes = 12

  init(id: String, sealed: Data, effectiveFrom: Date) {
    self.id = id
    self.sealed = sealed
    self.effectiveFrom = effectiveFrom
  }

  /// Encrypts `key` with `wrappingKey` and a random nonce.
  init(
    id: String, _ key: SymmetricKey, under wrappingKey: SymmetricKey, effectiveFrom: Date,
    randomness: any Randomness
  ) throws {
    let bytes = key.withUnsafeBytes { Data($0) }
    let box = try AES.GCM.seal(
      bytes, using: wrappingKey,
      nonce: AES.GCM.Nonce(data: randomness.bytes(Self.nonceBytes)),
      authenticating: Data(id.utf8))
    guard let sealed = box.combined else { throw CryptoKitError.incorrectParameterSize }
    self.init(id: id, sealed: sealed, effectiveFrom: effectiveFrom)
  }

  /// Decrypts the key.
  ///
  /// - Throws: If it was encrypted with another wrapping key.
  func opened(with wrappingKey: SymmetricKey) throws -> SymmetricKey {
    let box = try AES.GCM.SealedBox(combined: sealed)
    return SymmetricKey(
      data: try AES.GCM.open(box, using: wrappingKey, authenticating: Data(id.utf8)))
  }
}

/// Sizes of revision tokens, and lifetimes of their keys.
enum RevisionLimit {
  /// Minimum number of entries in a token; missing ones are padding.
  static let entriesMin = 28
  /// Maximum number of entries that are copied from an earlier token.
  static let entriesMax = 300
  /// Maximum size of a token's text, in bytes.
  static let textBytesMax = 20 * 1024
  /// Time for which a key encrypts new tokens, in seconds: 168 hours.
  static let keyUseSeconds: TimeInterval = 168 * 3_600
  /// Time for which a key decrypts tokens after its successor was made, in seconds: 360 hours.
  static let keyAfterlifeSeconds: TimeInterval = UploadLimit.keyAgeSecondsMax
  /// Maximum age of the cached keys, in seconds.
  static let keyringAgeSecondsMax: TimeInterval = 60
  /// Minimum size of the constant that every token is bound to, in bytes.
  static let contextBytesMin = 16
}

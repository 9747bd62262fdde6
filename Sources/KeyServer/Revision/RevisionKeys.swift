import Crypto
import Foundation
import KeyServerAPI
import Synchronization
import World

/// Hands out the keyring, makes a new sealing key every week and forgets those that nobody needs.
final class RevisionKeyDesk: Sendable {
  private let store: any KeyStore
  private let wrappingKey: SymmetricKey
  private let context: Data
  private let clock: any WallClock
  private let randomness: any Randomness
  private let latest = Mutex<(ring: RevisionKeyring, readAt: Date)?>(nil)

  init(
    store: any KeyStore, wrappingKey: SymmetricKey, context: Data, clock: any WallClock,
    randomness: any Randomness
  ) {
    self.store = store
    self.wrappingKey = wrappingKey
    self.context = context
    self.clock = clock
    self.randomness = randomness
  }

  /// The keyring, at most a minute old.
  ///
  /// - Throws: where the database fails or its keys were sealed under another wrapping key.
  func keyring() async throws -> RevisionKeyring {
    let now = clock.now
    let kept = latest.withLock { $0 }
    if let kept, kept.readAt <= now,
      now.timeIntervalSince(kept.readAt) < RevisionLimit.keyringAgeSecondsMax
    {
      return kept.ring
    }
    // Two that come here at once may both make a key: then both are good, and the newer one seals.
    var sealed = try await store.revisionKeys()
    if Self.present(of: sealed, at: now).map({ Self.isWornOut($0, at: now) }) ?? true {
      let id = randomness.bytes(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let key = SymmetricKey(data: randomness.bytes(32))
      let fresh = try SealedRevisionKey(id: id, key, under: wrappingKey, effectiveFrom: now)
      try await store.add(fresh, forgetting: Self.useless(in: sealed + [fresh], at: now))
      sealed = try await store.revisionKeys()
    }
    let ring = try ring(of: sealed, at: now)
    latest.withLock { $0 = (ring, now) }
    return ring
  }

  private func ring(of sealed: [SealedRevisionKey], at now: Date) throws -> RevisionKeyring {
    let keys = try sealed.map { ($0.id, try $0.opened(with: wrappingKey)) }
    let byID = Dictionary(keys) { $1 }
    guard let present = Self.present(of: sealed, at: now), let key = byID[present.id] else {
      throw CryptoKitError.incorrectKeySize
    }
    return RevisionKeyring(present: (present.id, key), keys: byID, context: context)
  }

  /// The newest key that is in use; where the clock was set back, the oldest there is.
  private static func present(
    of keys: [SealedRevisionKey], at now: Date
  ) -> SealedRevisionKey? {
    let sorted = keys.sorted { ($0.effectiveFrom, $0.id) < ($1.effectiveFrom, $1.id) }
    return sorted.last { $0.effectiveFrom <= now } ?? sorted.first
  }

  private static func isWornOut(_ key: SealedRevisionKey, at now: Date) -> Bool {
    now.timeIntervalSince(key.effectiveFrom) >= RevisionLimit.keyUseSeconds
  }

  /// Keys whose successor has been in use for so long that no token of theirs has a live key in it.
  private static func useless(in keys: [SealedRevisionKey], at now: Date) -> [String] {
    let sorted = keys.sorted { $0.effectiveFrom < $1.effectiveFrom }
    return zip(sorted, sorted.dropFirst()).compactMap { key, successor in
      now.timeIntervalSince(successor.effectiveFrom) >= RevisionLimit.keyAfterlifeSeconds
        ? key.id : nil
    }
  }
}

/// The keys that open revision tokens, and the one that seals new ones.
struct RevisionKeyring: Sendable {
  let present: (id: String, key: SymmetricKey)
  let keys: [String: SymmetricKey]
  /// The server's constant that every token is bound to.
  let context: Data
}

extension RevisionKeyring: CustomStringConvertible, CustomReflectable {
  var description: String { "RevisionKeyring(\(keys.count) keys)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A key of revision tokens as the database holds it: sealed under a key that lies elsewhere.
struct SealedRevisionKey: Hashable, Sendable {
  let id: String
  let sealed: Data
  /// From when it seals new tokens.
  let effectiveFrom: Date

  init(id: String, sealed: Data, effectiveFrom: Date) {
    self.id = id
    self.sealed = sealed
    self.effectiveFrom = effectiveFrom
  }

  /// Seals `key` under `wrappingKey`.
  init(
    id: String, _ key: SymmetricKey, under wrappingKey: SymmetricKey, effectiveFrom: Date
  ) throws {
    let bytes = key.withUnsafeBytes { Data($0) }
    let box = try AES.GCM.seal(bytes, using: wrappingKey, authenticating: Data(id.utf8))
    guard let sealed = box.combined else { throw CryptoKitError.incorrectParameterSize }
    self.init(id: id, sealed: sealed, effectiveFrom: effectiveFrom)
  }

  /// The key itself.
  ///
  /// - Throws: where `wrappingKey` is not the one it was sealed under.
  func opened(with wrappingKey: SymmetricKey) throws -> SymmetricKey {
    let box = try AES.GCM.SealedBox(combined: sealed)
    return SymmetricKey(
      data: try AES.GCM.open(box, using: wrappingKey, authenticating: Data(id.utf8)))
  }
}

extension SealedRevisionKey: CustomStringConvertible, CustomReflectable {
  var description: String { "SealedRevisionKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The key that keeps the keys of revision tokens, in a file for its owner only.
///
/// It lies beside the database and not in it, so that a copy of the database opens no token.
enum WrappingKeyFile {
  /// The key in `file`, which is made where there is none.
  ///
  /// - Throws: where the file cannot be read or made, or holds something else.
  static func key(
    in file: URL, randomness: any Randomness
  ) throws(KeyServerError) -> SymmetricKey {
    if !FileManager.default.fileExists(atPath: file.path) { try make(file, randomness) }
    guard let bytes = try? Data(contentsOf: file), bytes.count == RevisionLimit.wrappingKeyBytes
    else { throw .wrappingKey }
    return SymmetricKey(data: bytes)
  }

  /// Written whole under a name of its own and on the disk first: a key that was cut short would be no
  /// key for ever. A link takes no place that is taken: of two processes that make one, both use the first's.
  private static func make(_ file: URL, _ randomness: any Randomness) throws(KeyServerError) {
    let bytes = Data(randomness.bytes(RevisionLimit.wrappingKeyBytes))
    let unfinished = file.appendingPathExtension("unfinished-\(getpid())")
    let isMade = FileManager.default.createFile(
      atPath: unfinished.path, contents: bytes, attributes: [.posixPermissions: 0o600])
    defer { unlink(unfinished.path) }
    do {
      guard isMade else { throw KeyServerError.wrappingKey }
      try WholeFile.sync(unfinished)
      guard link(unfinished.path, file.path) == 0 || errno == EEXIST else {
        throw KeyServerError.wrappingKey
      }
      try WholeFile.sync(file.deletingLastPathComponent())
    } catch {
      throw .wrappingKey
    }
  }
}

/// What revision tokens measure, and how long their keys last. Documentation/KeyServer.md 9.
enum RevisionLimit {
  /// Entries of a token at least; those that are missing are padding.
  static let entriesMin = 28
  /// Entries that are taken over from an earlier token at most.
  static let entriesMax = 300
  /// The longest text that is looked at, in bytes: what fits in a body anyway.
  static let textBytesMax = 20 * 1024
  /// How long a sealing key is used for new tokens, in seconds: 168 hours.
  static let keyUseSeconds: TimeInterval = 168 * 3_600
  /// How long a sealing key still opens tokens after its successor came, in seconds: 360 hours.
  static let keyAfterlifeSeconds: TimeInterval = UploadLimit.keyAgeSecondsMax
  /// How long the keys that were read may be used before they are read again, in seconds.
  static let keyringAgeSecondsMax: TimeInterval = 60
  /// Bytes of the constant that every token is bound to, at least.
  static let contextBytesMin = 16
  /// Bytes of the key that the sealing keys are kept under.
  static let wrappingKeyBytes = 32
}

import Crypto
import Foundation
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

// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import World

/// A rate limit per key with a sliding window.
///
/// An attempt counts for exactly `windowSeconds`. The memory is bounded: if there are too many keys,
/// the least recently used ones are evicted. An attacker who can fill the memory has as many
/// addresses, and therefore as many budgets anyway.
public actor AttemptBudget {
  /// The number of attempts of a key in a window.
  public nonisolated let attempts: Int
  /// The length of the window, in seconds.
  public nonisolated let windowSeconds: Int

  private let keysMax: Int
  private let clock: any WallClock
  private var spent: [BudgetKey: [Date]] = [:]

  /// Creates a budget of `attempts` in `windowSeconds` for at most `keysMax` keys.
  public init(
    attempts: Int, windowSeconds: Int, keysMax: Int = QuietLimit.budgetKeysMax,
    clock: any WallClock
  ) {
    self.attempts = attempts
    self.windowSeconds = windowSeconds
    self.keysMax = keysMax
    self.clock = clock
  }

  /// Counts an attempt of `key`.
  ///
  /// - Returns: Nil if the attempt is allowed; otherwise the seconds until the next one, at least 1.
  public func spend(_ key: BudgetKey) -> Int? {
    let now = clock.now
    let counted = counting(spent[key] ?? [], at: now)
    guard counted.count < attempts else { return secondsUntilOneIsFree(of: counted, at: now) }
    if spent[key] == nil { makeRoom(at: now) }
    spent[key] = counted + [now]
    return nil
  }

  /// Refunds the latest attempt of `key`, for example because it succeeded.
  public func refund(_ key: BudgetKey) {
    spent[key]?.removeLast()
    if spent[key]?.isEmpty == true { spent[key] = nil }
  }

  /// The number of keys in memory.
  public var keyCount: Int { spent.count }

  /// The attempts in the window at `now`. An attempt in the future precedes a clock change and is dropped.
  private func counting(_ dates: [Date], at now: Date) -> [Date] {
    dates.filter { $0 <= now && now.timeIntervalSince($0) < Double(windowSeconds) }
  }

  private func secondsUntilOneIsFree(of counted: [Date], at now: Date) -> Int {
    let oldest = counted.first ?? now
    let seconds = Double(windowSeconds) - now.timeIntervalSince(oldest)
    return max(1, Int(seconds.rounded(.up)))
  }

  private func makeRoom(at now: Date) {
    guard spent.count >= keysMax else { return }
    spent = spent.filter { !counting($0.value, at: now).isEmpty }
    guard spent.count >= keysMax else { return }
    // Evicting half of them at once keeps sorting rare during a flood.
    let latest = spent.sorted { ($0.value.last ?? now) > ($1.value.last ?? now) }
    spent = Dictionary(uniqueKeysWithValues: latest.prefix(keysMax / 2).map { ($0.key, $0.value) })
  }
}

/// A pseudonym of a client or of another subject of an `AttemptBudget`: 16 bytes of an HMAC.
public struct BudgetKey: Hashable, Sendable, Redacted {
  let digest: SIMD2<UInt64>

  /// The 16 bytes.
  public var bytes: Data { withUnsafeBytes(of: digest) { Data($0) } }
}

/// Derives budget keys from a secret: a random one of this process, or one that several processes have.
///
/// No address is stored, and a key cannot be traced back to an address without the secret.
public struct BudgetKeys: Sendable, Redacted {
  /// A keyed HMAC state; copying it is twice as fast as keying again.
  private let keyedState: HMAC<SHA256>

  /// Creates a random secret.
  public init(from randomness: any Randomness) {
    keyedState = HMAC<SHA256>(key: SymmetricKey(data: randomness.bytes(32)))
  }

  /// Takes a secret that several processes have.
  public init(secret: SymmetricKey) { keyedState = HMAC<SHA256>(key: secret) }

  /// The key of the client's address prefix: all bits of IPv4, 64 bits of IPv6. Clients without an
  /// address share one key.
  public func key(for context: QuietContext) -> BudgetKey {
    key(for: context.client.map { AddressPrefix($0) })
  }

  /// The key of another subject, such as a code or an API key.
  public func key(for name: String) -> BudgetKey {
    key(of: [1] + Array(name.utf8))
  }

  func key(for prefix: AddressPrefix?) -> BudgetKey {
    key(of: [0] + (prefix?.bytes ?? []))
  }

  private func key(of bytes: [UInt8]) -> BudgetKey {
    var code = keyedState
    code.update(data: bytes)
    return BudgetKey(
      digest: code.finalize().withUnsafeBytes { $0.loadUnaligned(as: SIMD2<UInt64>.self) })
  }
}

// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import PostgreSQL
import Secrets
import ServerStorage
import Synchronization
import World

/// Filters of the keys in the partitions that get no more keys. An upload looks up its keys in the current partition,
/// and in earlier ones only those that a filter may contain: to search 14 partitions for each key takes longer than all
/// the rest of an upload.
///
/// A partition of an earlier day than the first open period gets no more keys, by any process. Keys are only removed
/// from it, which a filter need not know.
final class KeyPartitionFilters: Sendable {
  private struct State {
    var filters: [Int: StoredKeyFilter] = [:]
    /// The filters contain all keys of partitions before this day; `unknown` before they are loaded.
    var completeBefore = KeyPartitionFilters.unknown
    var isLoading = false
    var lastAttempt: ContinuousClock.Instant?
  }

  /// No partition has an earlier day.
  private static let unknown = Int(Int32.min)
  /// The pause after a failed attempt to load filters, in seconds.
  private static let retrySeconds = 60.0

  private let state = Mutex(State())

  /// The keys to look up, and in which partitions.
  struct Lookup {
    /// All keys have to be looked up in the partitions from this day on.
    let firstDay: Int
    /// The keys that may be in earlier partitions.
    let suspects: [(UInt64, UInt64)]
  }

  func lookup(_ keys: [PublishableKey]) -> Lookup {
    state.withLock { state in
      let words = keys.map(\.key.key.secretWords)
      return Lookup(
        firstDay: state.completeBefore,
        suspects: words.filter { key in
          let hash = StoredKeyFilter.hash(of: key)
          return state.filters.values.contains { $0.mayContain(hash) }
        })
    }
  }

  /// Forgets the filters if the first open period is earlier than they assume, as after a database was restored.
  ///
  /// - Returns: False if the lookup has to be repeated.
  func confirm(_ lookup: Lookup, openFrom day: Int) -> Bool {
    guard lookup.firstDay > day else { return true }
    state.withLock { ($0.filters, $0.completeBefore) = ([:], Self.unknown) }
    return false
  }

  /// Loads the filters of the partitions before `day`, the first that is open, unless they are loaded. Until then all
  /// partitions are searched.
  func follow(openFrom day: Int, in database: PostgreSQLServerDatabase) {
    let begins = state.withLock { state in
      let isEarly = state.lastAttempt.map { .now - $0 < .seconds(Self.retrySeconds) } ?? false
      guard state.completeBefore < day, !state.isLoading, !isEarly else { return false }
      (state.isLoading, state.lastAttempt) = (true, .now)
      return true
    }
    guard begins else { return }
    Task {
      // A failure is that of the database, which uploads report, too.
      try? await load(from: database)
      state.withLock { $0.isLoading = false }
    }
  }

  func load(from database: PostgreSQLServerDatabase) async throws {
    let (openFrom, days) = try await database.transaction(.snapshot) { transaction in
      let openFrom = try PostgreSQLKeyStore.progress(transaction).openFrom.unixDay
      return (openFrom, try KeyPartition.all(transaction).map(\.day).filter { $0 < openFrom })
    }
    for day in days where state.withLock({ $0.filters[day] == nil }) {
      let filter = try await database.transaction(
        .snapshot, seconds: PostgreSQLLimit.longRequestSeconds
      ) { try Self.filter(of: day, $0) }
      state.withLock { $0.filters[day] = filter }
    }
    state.withLock { state in
      state.filters = state.filters.filter { days.contains($0.key) }
      (state.completeBefore, state.lastAttempt) = (openFrom, nil)
    }
  }

  private static func filter(
    of day: Int, _ transaction: PostgreSQLTransaction
  ) throws -> StoredKeyFilter {
    var hashes: [UInt64] = []
    try transaction.copyOut(
      """
      COPY (SELECT key_data FROM diagnosis_key WHERE stored_day = \(day)) TO STDOUT (FORMAT binary)
      """
    ) { row in
      guard let bytes = row.nextBytes(), bytes.count == TemporaryExposureKey.byteCount else {
        return
      }
      hashes.append(StoredKeyFilter.hash(of: bytes.loadUnaligned(as: (UInt64, UInt64).self)))
    }
    return StoredKeyFilter(hashes)
  }
}

extension KeyPartitionFilters: Redacted {}

/// A Bloom filter of keys. About one in a thousand other keys may be contained, too.
struct StoredKeyFilter {
  private static let bitsPerKey = 16
  private static let bitsOfKey: UInt32 = 6

  private var words: [UInt64]

  init(_ hashes: [UInt64]) {
    words = Array(repeating: 0, count: hashes.count * Self.bitsPerKey / UInt64.bitWidth + 1)
    for hash in hashes {
      for number in 0..<Self.bitsOfKey {
        let bit = bit(number, of: hash)
        words[bit / UInt64.bitWidth] |= 1 << UInt64(bit % UInt64.bitWidth)
      }
    }
  }

  /// Hashed with a secret of the process: clients choose the bytes of keys.
  static func hash(of key: (UInt64, UInt64)) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(key.0)
    hasher.combine(key.1)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  func mayContain(_ hash: UInt64) -> Bool {
    (0..<Self.bitsOfKey).allSatisfy { number in
      let bit = bit(number, of: hash)
      return words[bit / UInt64.bitWidth] >> UInt64(bit % UInt64.bitWidth) & 1 == 1
    }
  }

  /// The position of a bit of the key: double hashing with the halves of the hash.
  private func bit(_ number: UInt32, of hash: UInt64) -> Int {
    let (first, step) = (UInt32(truncatingIfNeeded: hash), UInt32(truncatingIfNeeded: hash >> 32))
    let mixed = first &+ number &* (step | 1)
    return Int((UInt64(mixed) * UInt64(words.count * UInt64.bitWidth)) >> 32)
  }
}

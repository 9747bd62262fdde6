// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Logging
import PostgreSQL
import Secrets
import ServerStorage
import Synchronization
import World

/// Filters of the keys in the partitions that get no more keys. An upload looks up its keys in the current partition,
/// and in earlier ones only those that a filter may contain: to search 14 partitions for each key takes longer than all
/// the rest of an upload.
///
/// A partition of an earlier day than the first open period gets no more keys, by any process, unless the database
/// goes back to an earlier moment, as after the promotion of a standby that was behind. It then has another timeline,
/// and the filters are forgotten. Keys are only removed from such a partition, which a filter need not know.
final class KeyPartitionFilters: Sendable {
  /// The history of the database and its first open period, which every transaction of uploads reads.
  struct Moment: Equatable, Sendable {
    /// The timeline in the name of PostgreSQL's log.
    let timeline: String
    /// The day of the first moment that no export has closed.
    let openDay: Int
  }

  private struct State {
    var filters: [Int: StoredKeyFilter] = [:]
    /// The filters contain all keys of partitions before this day; `unknown` before they are loaded.
    var completeBefore = KeyPartitionFilters.unknown
    /// The timeline of the filters; nil if there are none.
    var timeline: String?
    var isLoading = false
    var lastAttempt: ContinuousClock.Instant?
  }

  /// No partition has an earlier day.
  private static let unknown = Int(Int32.min)
  /// The pause after a failed attempt to load filters, in seconds.
  private static let retrySeconds = 60.0

  private let logger: Logger
  private let state = Mutex(State())

  init(logger: Logger) {
    self.logger = logger
  }

  /// The keys to look up, and in which partitions.
  struct Lookup {
    /// All keys have to be looked up in the partitions from this day on.
    let firstDay: Int
    /// The keys that may be in earlier partitions.
    let suspects: [(UInt64, UInt64)]
    fileprivate let timeline: String?
  }

  func lookup(_ keys: [PublishableKey]) -> Lookup {
    let state = state.withLock { $0 }
    let filters = Array(state.filters.values)
    return Lookup(
      firstDay: state.completeBefore,
      suspects: keys.map(\.key.key.secretWords).filter { key in
        let hash = StoredKeyFilter.hash(of: key)
        return filters.contains { $0.mayContain(hash) }
      }, timeline: state.timeline)
  }

  /// Forgets the filters if the database is at an earlier moment than they assume.
  ///
  /// - Returns: False if all keys have to be looked up in all partitions.
  func confirm(_ lookup: Lookup, at moment: Moment) -> Bool {
    if lookup.firstDay <= moment.openDay,
      lookup.timeline == nil || lookup.timeline == moment.timeline
    {
      return true
    }
    state.withLock { ($0.filters, $0.completeBefore, $0.timeline) = ([:], Self.unknown, nil) }
    return false
  }

  /// Loads the filters of the partitions before the first that is open, unless they are loaded. Until then they are
  /// searched.
  ///
  /// - Returns: The task that loads them; nil if there is nothing to load, or if it is being done.
  @discardableResult
  func follow(_ moment: Moment, in database: PostgreSQLServerDatabase) -> Task<Void, Never>? {
    let begins = state.withLock { state in
      let isEarly = state.lastAttempt.map { .now - $0 < .seconds(Self.retrySeconds) } ?? false
      guard state.completeBefore < moment.openDay, !state.isLoading, !isEarly else { return false }
      (state.isLoading, state.lastAttempt) = (true, .now)
      return true
    }
    guard begins else { return nil }
    return Task {
      do { try await load(from: database) } catch {
        logger.warning(
          "the keys of earlier days cannot be read, so each upload searches all days: \(error)")
      }
      state.withLock { $0.isLoading = false }
    }
  }

  private func load(from database: PostgreSQLServerDatabase) async throws {
    let (moment, days) = try await database.transaction(.snapshot) { transaction in
      let moment = try Moment(transaction)
      return (moment, try KeyPartition.all(transaction).map(\.day).filter { $0 < moment.openDay })
    }
    let loaded = state.withLock { $0.timeline == moment.timeline ? $0.filters : [:] }
    var filters = loaded.filter { days.contains($0.key) }
    for day in days where filters[day] == nil {
      filters[day] = try await database.transaction(
        .snapshot, seconds: PostgreSQLLimit.longRequestSeconds
      ) { transaction in
        try Moment(transaction).timeline == moment.timeline
          ? try StoredKeyFilter(ofKeysOn: day, transaction) : nil
      }
      // The database has changed to another timeline: the next upload begins again.
      guard filters[day] != nil else { return }
    }
    state.withLock { state in
      // Forgotten meanwhile: they may be those of an earlier moment.
      guard loaded.isEmpty || state.timeline == moment.timeline else { return }
      (state.filters, state.completeBefore) = (filters, moment.openDay)
      (state.timeline, state.lastAttempt) = (moment.timeline, nil)
    }
  }
}

extension KeyPartitionFilters: Redacted {}

extension KeyPartitionFilters.Moment {
  /// The columns `timeline` and `closed_until`, for a query of `period_progress`.
  static let columns = """
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), max(closed_until)
    """

  init(_ transaction: PostgreSQLTransaction) throws {
    let rows = try transaction.run("SELECT \(Self.columns) FROM period_progress")
    self.init(timeline: rows.text(0, 0) ?? "", openFrom: Date(unixSecond: rows.integer(0, 1) ?? 0))
  }

  init(timeline: String, openFrom: Date) {
    self.init(timeline: timeline, openDay: openFrom.unixDay)
  }
}

/// A Bloom filter of keys. About one in twenty thousand other keys may be contained, too.
struct StoredKeyFilter {
  private static let bitsPerKey = 24
  private static let bitsOfKey: UInt32 = 8

  private var words: [UInt64]

  /// An empty filter for this number of keys.
  init(keyCount: Int) {
    words = Array(repeating: 0, count: keyCount * Self.bitsPerKey / UInt64.bitWidth + 1)
  }

  /// The filter of the keys in the partition of a day.
  fileprivate init(ofKeysOn day: Int, _ transaction: PostgreSQLTransaction) throws {
    let count = try transaction.run(
      "SELECT count(*) FROM diagnosis_key WHERE stored_day = $1", .integer(day)
    ).firstInteger
    self.init(keyCount: Int(count ?? 0))
    try transaction.copyOut(
      """
      COPY (SELECT key_data FROM diagnosis_key WHERE stored_day = \(day)) TO STDOUT (FORMAT binary)
      """
    ) { row in
      guard let bytes = row.nextBytes(), bytes.count == TemporaryExposureKey.byteCount else {
        return
      }
      insert(Self.hash(of: bytes.loadUnaligned(as: (UInt64, UInt64).self)))
    }
  }

  mutating func insert(_ hash: UInt64) {
    for number in 0..<Self.bitsOfKey {
      let bit = bit(number, of: hash)
      words[bit / UInt64.bitWidth] |= 1 << UInt64(bit % UInt64.bitWidth)
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

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
/// goes back to an earlier moment, as after the promotion of a standby that was behind. Its history is then another
/// one, and the filters are forgotten. Keys are only removed from such a partition, which a filter need not know.
final class KeyPartitionFilters: Sendable {
  /// The history of the database and its first open period, which every transaction of uploads reads.
  struct Moment: Equatable, Sendable {
    /// The start of the server of PostgreSQL and the number of the table: others after a promotion or a restoration.
    let history: String
    /// The day of the first moment that no export has closed.
    let openDay: Int
  }

  private struct State {
    var filters: [Int: StoredKeyFilter] = [:]
    /// The filters contain all keys of partitions before this day; `unknown` until all are loaded.
    var completeBefore = KeyPartitionFilters.unknown
    /// The history of the filters; nil if there are none.
    var history: String?
    var loading: Task<Void, Never>?
    var lastAttempt: ContinuousClock.Instant?

    mutating func forget() {
      (filters, completeBefore, history) = ([:], KeyPartitionFilters.unknown, nil)
    }
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
    fileprivate let history: String?
  }

  func lookup(_ keys: [PublishableKey]) -> Lookup {
    let (filters, firstDay, history) = state.withLock {
      (Array($0.filters.values), $0.completeBefore, $0.history)
    }
    return Lookup(
      firstDay: firstDay,
      suspects: keys.map(\.key.key.secretWords).filter { key in
        let hash = StoredKeyFilter.hash(of: key)
        return filters.contains { $0.mayContain(hash) }
      }, history: history)
  }

  /// Forgets the filters if the database is at an earlier moment than they assume.
  ///
  /// - Returns: False if all keys have to be looked up in all partitions.
  func confirm(_ lookup: Lookup, at moment: Moment) -> Bool {
    if lookup.firstDay <= moment.openDay, lookup.history == nil || lookup.history == moment.history
    {
      return true
    }
    state.withLock { $0.forget() }
    return false
  }

  /// Loads the filters of the partitions before the first that is open, unless they are loaded. Until the end all
  /// partitions are searched, from the first on that had no filter before.
  ///
  /// - Returns: The task that loads them; nil if there is nothing to load, or if it was tried a short time ago.
  @discardableResult
  func follow(_ moment: Moment, in database: PostgreSQLServerDatabase) -> Task<Void, Never>? {
    state.withLock { state in
      if let loading = state.loading { return loading }
      let isEarly = state.lastAttempt.map { .now - $0 < .seconds(Self.retrySeconds) } ?? false
      guard state.completeBefore < moment.openDay, !isEarly else { return nil }
      let task = Task {
        let failure = await failureOfLoading(from: database)
        self.state.withLock { ($0.loading, $0.lastAttempt) = (nil, failure == nil ? nil : .now) }
        guard let failure, !Task.isCancelled else { return }
        logger.warning(
          "the keys of earlier days cannot be read, so each upload searches all days: \(failure)")
      }
      state.loading = task
      return task
    }
  }

  /// Ends a task that loads filters.
  func stop() { state.withLock { $0.loading }?.cancel() }

  private func failureOfLoading(from database: PostgreSQLServerDatabase) async -> (any Error)? {
    do {
      try await load(from: database)
      return nil
    } catch {
      return error
    }
  }

  private func load(from database: PostgreSQLServerDatabase) async throws {
    let (moment, days) = try await database.transaction(.snapshot) { transaction in
      let moment = try Moment(transaction)
      return (moment, try KeyPartition.all(transaction).map(\.day).filter { $0 < moment.openDay })
    }
    let missing = state.withLock { state in
      if state.history != moment.history { state.forget() }
      state.history = moment.history
      state.filters = state.filters.filter { days.contains($0.key) }
      return days.filter { state.filters[$0] == nil }
    }
    for day in missing {
      let filter = try await database.transaction(
        .snapshot, seconds: PostgreSQLLimit.longRequestSeconds
      ) { transaction in
        try Moment(transaction).history == moment.history
          ? try StoredKeyFilter(ofKeysOn: day, transaction) : nil
      }
      let isCurrent = state.withLock { state in
        guard let filter, state.history == moment.history else { return false }
        state.filters[day] = filter
        return true
      }
      // Forgotten meanwhile, or to be forgotten by the next upload, which begins again.
      guard isCurrent else { return }
    }
    state.withLock { state in
      if state.history == moment.history { state.completeBefore = moment.openDay }
    }
  }
}

extension KeyPartitionFilters: Redacted {}
extension KeyPartitionFilters.Lookup: Redacted {}

extension KeyPartitionFilters.Moment {
  /// The columns `history` and `closed_until`, for a query of `period_progress`.
  static let columns = """
    concat(extract(epoch FROM pg_postmaster_start_time()), ' ', 'diagnosis_key'::regclass::oid),
    max(closed_until)
    """

  init(_ transaction: PostgreSQLTransaction) throws {
    let rows = try transaction.run("SELECT \(Self.columns) FROM period_progress")
    self.init(history: rows.text(0, 0) ?? "", openFrom: Date(unixSecond: rows.integer(0, 1) ?? 0))
  }

  init(history: String, openFrom: Date) {
    self.init(history: history, openDay: openFrom.unixDay)
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

// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import World

/// The keys of one period and filter, read with one cursor in the order of their bytes. This is the order of the
/// table, so only the few revised keys are sorted, and some hundred rows are in memory at a time.
struct PeriodKeys {
  /// Unix seconds.
  let start: Int64
  /// Unix seconds.
  let end: Int64
  /// Nil admits all keys.
  var filter: KeyFilter?
  var firstKey: Data?
  var beforeKey: Data?
  /// Counts the rows that are left out because their checksums are wrong; nil if they are not
  /// counted.
  var skippedRows: SkippedRows?
  /// The name of the database with the keys.
  var database = "main"

  /// Calls `body` for every key that was released in the period.
  func forEachReleased(in db: Database, _ body: (StoredKeyRow) throws -> Void) throws {
    try forEach(.released, in: db) { row in
      try body(row)
      return true
    }
  }

  /// Calls `body` for every key that was released before the period and revised in it.
  func forEachRevised(in db: Database, _ body: (StoredKeyRow) throws -> Void) throws {
    try forEach(.revised, in: db) { row in
      try body(row)
      return true
    }
  }

  /// Returns the number of keys that were released in each of `periods`, which all end at one moment. The table is
  /// read once for all of them, and only until every count is known well enough: if one stays too low, all are exact.
  static func releasedCounts(of periods: [CountedPeriod], in db: Database) throws -> [Int] {
    guard var widest = periods.map(\.keys).min(by: { $0.start < $1.start }) else { return [] }
    widest.filter = nil
    let bound = try widest.releasedCountMax(in: db)
    var counts = Array(repeating: 0, count: periods.count)
    var filters = periods.map { CachedFilter($0.keys.filter) }
    let sufficient = periods.map { period in
      period.indifferent.flatMap { bound <= $0.upperBound ? $0.lowerBound : nil } ?? .max
    }
    try widest.forEach(.released, in: db) { row in
      for number in periods.indices where row.releasedAt >= periods[number].keys.start {
        if filters[number].admits(row) { counts[number] += 1 }
      }
      return zip(counts, sufficient).contains { $0 < $1 }
    }
    return counts
  }

  /// The number of keys that were released in the period, without the filter and the checks of each row, which take
  /// longer.
  private func releasedCountMax(in db: Database) throws -> Int {
    try Int.fetchOne(
      db,
      sql: """
        SELECT count(*) FROM \(database).diagnosis_key
        WHERE released_at >= $start AND released_at < $end
        """, arguments: ["start": start, "end": end]) ?? 0
  }

  /// Returns at most `count` of the keys that were released in the period, the first ones by their bytes.
  func released(atMost count: Int, in db: Database) throws -> [PublishableKey] {
    var keys: [PublishableKey] = []
    try forEach(.released, in: db) { row in
      guard keys.count < count else { return false }
      keys.append(
        PublishableKey(
          key: try row.key(),
          regions: String(decoding: row.regions, as: UTF8.self).split(separator: ",")
            .map(String.init),
          travels: row.travels, releasedAt: Date(unixSecond: row.releasedAt),
          isPadding: row.isPadding))
      return true
    }
    return keys
  }

  /// Returns the bytes of the keys at `positions` in the order of all released and revised keys.
  func keys(at positions: Set<Int>, in db: Database) throws -> [Data] {
    guard let last = positions.max() else { return [] }
    var keys: [Data] = []
    var position = 0
    try forEach(.either, in: db) { row in
      if positions.contains(position) { keys.append(row.keyData) }
      position += 1
      return position <= last
    }
    return keys
  }

  /// Returns the number of keys that were released before the period and revised in it.
  func revisedCount(in db: Database) throws -> Int {
    var count = 0
    try forEachRevised(in: db) { _ in count += 1 }
    return count
  }
}

/// A period whose keys are counted.
struct CountedPeriod {
  let keys: PeriodKeys
  /// As in `ClosingRows.releasedCounts(of:)`.
  let indifferent: ClosedRange<Int>?
}

extension PeriodKeys {
  init(_ selection: KeySelection) {
    self.init(
      start: selection.start.unixSecond, end: selection.end.unixSecond, filter: selection.filter,
      firstKey: selection.firstKey, beforeKey: selection.beforeKey)
  }

  private enum Kind {
    /// Keys that were released in the period.
    case released
    /// Keys that were released before the period and revised in it.
    case revised
    case either
  }

  /// - Parameter body: Returns false after the last key that is needed.
  private func forEach(
    _ kind: Kind, in db: Database, _ body: (StoredKeyRow) throws -> Bool
  ) throws {
    var filter = CachedFilter(filter)
    let query = query(kind)
    try StoredKeyRows.forEach(
      in: db, from: query.source, where: query.condition, order: query.order, arguments, end: end
    ) { row in
      // A key can be revoked in a file only if an earlier file contained it.
      guard contains(row, kind), !row.isRevoked || row.releasedAt < start, filter.admits(row)
      else { return true }
      // Skipped, because a corrupted key would be signed and published.
      guard row.isIntact else {
        skippedRows?.add()
        return true
      }
      return try body(row)
    }
  }

  private func query(_ kind: Kind) -> (source: String, condition: String, order: String) {
    let (table, order) = ("\(database).diagnosis_key", "ORDER BY key_data")
    let range = """
      \(firstKey == nil ? "" : "AND key_data >= $first")
      \(beforeKey == nil ? "" : "AND key_data < $before")
      """
    let isReleased = "released_at >= $start AND released_at < $end"
    let isRevised = """
      revised_released_at >= $start AND revised_released_at < $end AND released_at < $start
      """
    return switch kind {
    case .released: (table, "\(isReleased) \(range)", order)
    case .either: (table, "(\(isReleased) OR \(isRevised)) \(range)", order)
    // Few keys, in the order of the index. With LIMIT, they are sorted before they are passed on.
    case .revised:
      (
        """
        (SELECT * FROM \(table) INDEXED BY diagnosis_key_revised
        WHERE \(isRevised) \(range) \(order) LIMIT -1)
        """, "true", ""
      )
    }
  }

  /// SQLite does not say in which order it evaluates conditions, so each row is checked again.
  private func contains(_ row: StoredKeyRow, _ kind: Kind) -> Bool {
    let isReleased = row.releasedAt >= start && row.releasedAt < end
    let isRevised =
      row.releasedAt < start && (row.revisedReleasedAt.map { $0 >= start && $0 < end } ?? false)
    return switch kind {
    case .released: isReleased
    case .revised: isRevised
    case .either: isReleased || isRevised
    }
  }

  private var arguments: StatementArguments {
    var arguments: StatementArguments = ["start": start, "end": end]
    if let firstKey { arguments += ["first": firstKey] }
    if let beforeKey { arguments += ["before": beforeKey] }
    return arguments
  }
}

/// A filter that caches its last result: nearly all keys of a period have the same regions.
private struct CachedFilter {
  private let filter: KeyFilter?
  private var last: (regions: [UInt8], travels: Bool, isAdmitted: Bool)?

  init(_ filter: KeyFilter?) {
    self.filter = filter
  }

  mutating func admits(_ row: StoredKeyRow) -> Bool {
    guard let filter else { return true }
    if let last, last.travels == row.travels, last.regions == row.regions {
      return last.isAdmitted
    }
    let text = String(decoding: row.regions, as: UTF8.self)
    let isAdmitted = filter.admits(regions: text.split(separator: ","), travels: row.travels)
    last = (row.regions, row.travels, isAdmitted)
    return isAdmitted
  }
}

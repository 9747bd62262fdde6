// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import World

/// The keys of one period and filter, read with one cursor in the order of their bytes. This is the order of the
/// table, so nothing is sorted, and only one row is in memory at a time.
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
    try forEach(.released, in: db, body)
  }

  /// Calls `body` for every key that was released before the period and revised in it.
  func forEachRevised(in db: Database, _ body: (StoredKeyRow) throws -> Void) throws {
    try forEach(.revised, in: db, body)
  }

  /// Returns the number of keys that were released in each of `periods`, which all end at one moment. The table is
  /// read once for all of them.
  static func releasedCounts(of periods: [PeriodKeys], in db: Database) throws -> [Int] {
    guard var widest = periods.min(by: { $0.start < $1.start }) else { return [] }
    widest.filter = nil
    var counts = Array(repeating: 0, count: periods.count)
    var filters = periods.map { CachedFilter($0.filter) }
    try widest.forEach(.released, .forFilter, in: db) { row in
      for number in periods.indices where row.releasedAt >= periods[number].start {
        if filters[number].admits(row) { counts[number] += 1 }
      }
    }
    return counts
  }

  /// Returns at most `count` of the keys that were released in the period, the first ones by their bytes.
  func released(atMost count: Int, in db: Database) throws -> [PublishableKey] {
    var keys: [PublishableKey] = []
    try forEachReleased(in: db) { row in
      guard keys.count < count else { return }
      keys.append(
        PublishableKey(
          key: try row.key(),
          regions: String(decoding: row.regions, as: UTF8.self).split(separator: ",")
            .map(String.init),
          travels: row.travels, releasedAt: Date(unixSecond: row.releasedAt),
          isPadding: row.isPadding))
    }
    return keys
  }

  /// Returns the bytes of the keys at `positions` in the order of all released and revised keys.
  func keys(at positions: Set<Int>, in db: Database) throws -> [Data] {
    guard !positions.isEmpty else { return [] }
    var keys: [Data] = []
    var position = 0
    try forEach(.either, in: db) { row in
      if positions.contains(position) { keys.append(row.keyData) }
      position += 1
    }
    return keys
  }

  /// Returns the number of keys that were released before the period and revised in it.
  func revisedCount(in db: Database) throws -> Int {
    var count = 0
    try forEach(.revised, .forFilter, in: db) { _ in count += 1 }
    return count
  }
}

extension PeriodKeys {
  init(_ selection: KeySelection) {
    self.init(
      start: selection.start.unixSecond, end: selection.end.unixSecond, filter: selection.filter,
      firstKey: selection.firstKey, beforeKey: selection.beforeKey)
  }

  /// SQL conditions that select keys.
  private enum Kind: String {
    case released = """
      WHERE released_at >= $start AND released_at < $end
      """
    case revised = """
      INDEXED BY diagnosis_key_revised
      WHERE revised_released_at >= $start AND revised_released_at < $end AND released_at < $start
      """
    case either = """
      WHERE ((released_at >= $start AND released_at < $end)
        OR (released_at < $start AND revised_released_at >= $start AND revised_released_at < $end))
      """
  }

  private func forEach(
    _ kind: Kind, _ columns: StoredKeyRow.Columns = .all, in db: Database,
    _ body: (StoredKeyRow) throws -> Void
  ) throws {
    let statement = try db.makeStatement(
      sql: """
        SELECT \(columns.rawValue) FROM \(database).diagnosis_key \(kind.rawValue)
        \(firstKey == nil ? "" : "AND key_data >= $first")
        \(beforeKey == nil ? "" : "AND key_data < $before")
        ORDER BY key_data
        """)
    var filter = CachedFilter(filter)
    try statement.forEachRow(arguments, in: db) { row in
      let row = StoredKeyRow(row, end: end)
      // A key can be revoked in a file only if an earlier file contained it.
      guard !row.isRevoked || row.releasedAt < start, filter.admits(row) else { return }
      // Skipped, because a corrupted key would be signed and published.
      guard columns == .forFilter || row.isIntact else {
        skippedRows?.add()
        return
      }
      try body(row)
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
    let (regions, travels) = (row.regions, row.travels)
    if let last, last.travels == travels, Self.isEqual(last.regions, regions) {
      return last.isAdmitted
    }
    let text = String(decoding: regions, as: UTF8.self)
    let isAdmitted = filter.admits(regions: text.split(separator: ","), travels: travels)
    last = (Array(regions), travels, isAdmitted)
    return isAdmitted
  }

  /// Uses `memcmp`, because it runs twice for every row.
  private static func isEqual(_ text: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
    text.withUnsafeBytes { text in
      guard text.count == other.count else { return false }
      guard let start = text.baseAddress, let otherStart = other.baseAddress else { return true }
      return memcmp(start, otherStart, text.count) == 0
    }
  }
}

import ExposureKeys
import Foundation
import GRDB

/// The keys of one period and filter, read with one cursor in the order of their bytes, which is the
/// order of the table: nothing is sorted, and one row is held at a time.
struct PeriodKeys {
  /// Unix seconds.
  let start: Int64
  /// Unix seconds.
  let end: Int64
  /// Nil admits every key.
  var filter: KeyFilter?
  var firstKey: Data?
  var beforeKey: Data?

  /// Gives `body` every key that was released in the period, as it is to be published.
  func forEachReleased(in db: Database, _ body: (WindowRow) throws -> Void) throws {
    try forEach(.released, in: db, body)
  }

  /// Gives `body` every key that was released before the period and revised in it.
  func forEachRevised(in db: Database, _ body: (WindowRow) throws -> Void) throws {
    try forEach(.revised, in: db, body)
  }

  /// How many keys were released in each of `periods`, which end at one moment: the table is read once,
  /// however many there are.
  static func releasedCounts(of periods: [PeriodKeys], in db: Database) throws -> [Int] {
    guard var widest = periods.min(by: { $0.start < $1.start }) else { return [] }
    widest.filter = nil
    var counts = Array(repeating: 0, count: periods.count)
    var memories = periods.map { FilterMemory($0.filter) }
    try widest.forEach(.released, .judged, in: db) { row in
      for number in periods.indices where row.releasedAt >= periods[number].start {
        if memories[number].admits(row) { counts[number] += 1 }
      }
    }
    return counts
  }

  /// The first keys that were released in the period, `count` at most, with the place each counts in.
  func released(atMost count: Int, in db: Database) throws -> [PublishableKey] {
    var keys: [PublishableKey] = []
    try forEachReleased(in: db) { row in
      guard keys.count < count else { return }
      keys.append(
        PublishableKey(
          key: try row.key(),
          regions: String(decoding: row.regions, as: UTF8.self).split(separator: ",")
            .map(String.init),
          travels: row.travels, releasedAt: Date(timeIntervalSince1970: Double(row.releasedAt))))
    }
    return keys
  }

  /// The bytes of the released and revised keys at `positions` of their common order.
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

  /// How many keys were released before the period and revised in it.
  func revisedCount(in db: Database) throws -> Int {
    var count = 0
    try forEach(.revised, .judged, in: db) { _ in count += 1 }
    return count
  }
}

extension PeriodKeys {
  /// Which keys are asked for, as SQL says it.
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
    _ kind: Kind, _ columns: WindowRow.Columns = .all, in db: Database,
    _ body: (WindowRow) throws -> Void
  ) throws {
    let statement = try db.makeStatement(
      sql: """
        SELECT \(columns.rawValue) FROM diagnosis_key \(kind.rawValue)
        \(firstKey == nil ? "" : "AND key_data >= $first")
        \(beforeKey == nil ? "" : "AND key_data < $before")
        ORDER BY key_data
        """)
    var memory = FilterMemory(filter)
    try statement.forEachRow(arguments, in: db) { row in
      let row = WindowRow(row, end: end)
      // Only what has been in a file can be taken back in one.
      guard !row.isWithdrawn || row.releasedAt < start, memory.admits(row) else { return }
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

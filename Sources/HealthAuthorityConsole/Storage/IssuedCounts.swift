import Foundation
import GRDB
import World

/// The number of codes that this console has issued, by day. It is a number only: nothing of a code is stored.
struct IssuedCounts: Sendable {
  private static let daySeconds: Int64 = 86_400

  let database: ConsoleDatabase
  let clock: any WallClock

  /// Counts codes that were issued just now.
  func add(_ count: Int) async throws {
    guard count > 0 else { return }
    let day = clock.now.unixSecond / Self.daySeconds * Self.daySeconds
    try await database.write {
      try $0.execute(
        sql: """
          INSERT INTO issued_count (day, count) VALUES (?, ?)
          ON CONFLICT (day) DO UPDATE SET count = count + excluded.count
          """, arguments: [day, count])
    }
  }

  /// The counts by the start of their day in Unix seconds, of the last days.
  func byDay(_ days: Int) async throws -> [Int64: Int] {
    let first = clock.now.unixSecond - Int64(days) * Self.daySeconds
    return try await database.read { db in
      let rows = try Row.fetchAll(
        db, sql: "SELECT day, count FROM issued_count WHERE day > ?", arguments: [first])
      return Dictionary(
        rows.map { row -> (Int64, Int) in (row["day"], row["count"]) }, uniquingKeysWith: { $1 })
    }
  }
}

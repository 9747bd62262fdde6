import Foundation
import GRDB

extension Batch {
  /// One row of `export_file`.
  init(row: Row) throws {
    guard
      let travellers = ExportConfiguration.Travellers(rawValue: row["travellers"])
    else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    self.init(
      export: row["export"], region: row["region"],
      start: Date(timeIntervalSince1970: row["start_at"]),
      end: Date(timeIntervalSince1970: row["end_at"]),
      releasedBefore: Date(timeIntervalSince1970: row["released_before"]),
      filter: KeyFilter(
        inputRegions: Self.regions(row["input_regions"]),
        excludedRegions: Self.regions(row["excluded_regions"]), travellers: travellers),
      firstKey: row["first_key"], beforeKey: row["before_key"])
  }

  func insert(in db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO export_file (export, region, start_at, end_at, released_before, input_regions,
          excluded_regions, travellers, first_key, before_key)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        export, region, Int64(start.timeIntervalSince1970), Int64(end.timeIntervalSince1970),
        Int64(releasedBefore.timeIntervalSince1970), Self.text(filter.inputRegions),
        Self.text(filter.excludedRegions), filter.travellers.rawValue, firstKey, beforeKey,
      ])
  }

  private static func regions(_ text: String) -> Set<String> {
    Set(text.split(separator: ",").map(String.init))
  }

  private static func text(_ regions: Set<String>) -> String {
    regions.sorted().joined(separator: ",")
  }
}

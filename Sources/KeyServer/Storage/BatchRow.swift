import Foundation
import GRDB

/// One row of `export_file`. Times are Unix seconds, regions comma-separated and sorted.
struct BatchRow {
  var export: String
  var region: String
  var start: Int64
  var end: Int64
  var releasedBefore: Int64
  var inputRegions: String
  var excludedRegions: String
  var travellers: String
  var firstKey: Data?
  var beforeKey: Data?

  init(_ batch: Batch) {
    export = batch.export
    region = batch.region
    start = batch.start.wholeSeconds
    end = batch.end.wholeSeconds
    releasedBefore = batch.releasedBefore.wholeSeconds
    inputRegions = Self.text(batch.filter.inputRegions)
    excludedRegions = Self.text(batch.filter.excludedRegions)
    travellers = batch.filter.travellers.rawValue
    firstKey = batch.firstKey
    beforeKey = batch.beforeKey
  }

  init(row: Row) {
    export = row["export"]
    region = row["region"]
    start = row["start_at"]
    end = row["end_at"]
    releasedBefore = row["released_before"]
    inputRegions = row["input_regions"]
    excludedRegions = row["excluded_regions"]
    travellers = row["travellers"]
    firstKey = row["first_key"]
    beforeKey = row["before_key"]
  }

  /// What the row says.
  ///
  /// - Throws: `DatabaseError` where this version does not know what becomes of its travellers.
  var batch: Batch {
    get throws {
      guard let travellers = ExportConfiguration.Travellers(rawValue: travellers) else {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
      }
      return Batch(
        export: export, region: region, start: Date(timeIntervalSince1970: Double(start)),
        end: Date(timeIntervalSince1970: Double(end)),
        releasedBefore: Date(timeIntervalSince1970: Double(releasedBefore)),
        filter: KeyFilter(
          inputRegions: Self.regions(inputRegions),
          excludedRegions: Self.regions(excludedRegions), travellers: travellers),
        firstKey: firstKey, beforeKey: beforeKey)
    }
  }

  func insert(in db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO export_file (export, region, start_at, end_at, released_before, input_regions,
          excluded_regions, travellers, first_key, before_key)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        export, region, start, end, releasedBefore, inputRegions, excludedRegions, travellers,
        firstKey, beforeKey,
      ])
  }

  private static func regions(_ text: String) -> Set<String> {
    Set(text.split(separator: ",").map(String.init))
  }

  private static func text(_ regions: Set<String>) -> String {
    regions.sorted().joined(separator: ",")
  }
}

extension BatchRow: CustomStringConvertible, CustomReflectable {
  /// Without its range, which is two keys.
  var description: String { "BatchRow(\(export)/\(start)-\(end))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

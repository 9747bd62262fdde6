// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import PostgreSQL
import ServerStorage
import World

extension PostgreSQLKeyStore {
  func importedFiles() async throws -> ImportedFiles {
    try await read { transaction in
      let rows = try transaction.run("SELECT source, sha256 FROM imported_file")
      var files = ImportedFiles()
      for row in rows.indices {
        guard let source = rows.text(row, 0), let hash = rows.bytes(row, 1) else { continue }
        files.names.insert(source)
        files.hashes.insert(hash)
      }
      return files
    }
  }

  func importKeys(_ imported: ImportedKeys) async throws -> (inserted: Int, revised: Int) {
    let counts = try await write(
      seconds: PostgreSQLLimit.longRequestSeconds, isRepeatable: false
    ) { [filters] transaction in
      var rows = PostgreSQLUploads([], process: 0, filters: filters)
      let counts = try rows.importKeys(imported, transaction)
      return [counts.inserted, counts.revised]
    }
    return (counts[0], counts[1])
  }

  /// Releases the keys that were imported before the first start at `start`, the beginning of the first period. Damaged
  /// keys stay as they are, and are not published.
  ///
  /// Keys are moved in parts, so that the memory does not depend on their number.
  static func release(from start: Date, _ transaction: PostgreSQLTransaction) throws {
    let imported = try transaction.run(
      "SELECT FROM diagnosis_key WHERE released_at < $1 LIMIT 1", .integer(start.unixSecond))
    guard imported.count > 0 else { return }
    for firstByte in UInt8.min...UInt8.max {
      let part = PeriodKeyRange(before: start.unixSecond, firstByte: firstByte)
      var keys: [PublishableKey] = []
      try PostgreSQLKeyRow.read(.earlier(part), transaction) { row in
        // With its first properties: a revision is in a table of its own.
        if row.isIntact { keys.append(try row.publishableKey(publishedBy: .min)) }
      }
      guard !keys.isEmpty else { continue }
      _ = try transaction.run(releasing(keys, from: start))
    }
  }

  /// Moves `keys` to the partition of `start`, and corrects their copies in the table of revisions.
  private static func releasing(
    _ keys: [PublishableKey], from start: Date
  ) -> [PostgreSQLStatement] {
    let (start, partition) = (start.unixSecond, KeyPartition(day: start.unixDay))
    let bytes = keys.map { $0.key.key.secretWords }
    return [
      PostgreSQLStatement(
        "DELETE FROM diagnosis_key WHERE key_data = ANY ($1)", .byteStrings(bytes)),
      PostgreSQLUploads.insertion(keys, releasedFrom: start, into: partition),
      PostgreSQLStatement(
        """
        UPDATE key_revision SET released_at = $3, checksum = b
        FROM unnest($1, $2) AS released (a, b) WHERE key_data = a
        """, .byteStrings(bytes),
        .integers(keys.map { $0.checksum(releasedAt: start) }), .integer(start)),
    ]
  }
}

import Foundation
import GRDB
import ServerStorage
import Synchronization

/// The damage that was found in a database while it was read, and by its last check.
final class StoredDamage: Sendable {
  private let skippedRows = Atomic<Int>(0)
  private let isStructureDamaged = Atomic<Bool>(false)

  /// Counts a row that was left out of a file because its checksum is wrong.
  func addSkippedRow() { skippedRows.add(1, ordering: .relaxed) }

  /// True if SQLite found a fault in the last check. Then writes are rejected, because they could be lost.
  var isWritingUnsafe: Bool {
    get { isStructureDamaged.load(ordering: .relaxed) }
    set { isStructureDamaged.store(newValue, ordering: .relaxed) }
  }

  /// The number of rows that were left out of files since the start.
  var skippedRowCount: Int { skippedRows.load(ordering: .relaxed) }
}

/// The result of a check of the whole database.
struct StoreCheck: Hashable, Sendable {
  /// False if the structure of the database is damaged.
  var isStructureIntact = true
  /// The number of keys whose checksums are wrong; they are never published.
  var damagedKeys = 0
}

extension SQLiteKeyStore {
  /// Checks the structure of the database, and the checksum of each key.
  func check() async throws -> StoreCheck {
    let check = try await pool.read { db in
      guard try DatabaseCheck.isIntact(db) else { return StoreCheck(isStructureIntact: false) }
      return StoreCheck(damagedKeys: try Self.damagedKeys(in: db))
    }
    damage.isWritingUnsafe = !check.isStructureIntact
    return check
  }

  private static func damagedKeys(in db: Database) throws -> Int {
    var count = 0
    try rows(in: db) { row in if !row.isIntact { count += 1 } }
    return count
  }

  /// Computes the checksums of all keys again, after a change of the table as a whole.
  static func renewChecksums(in db: Database) throws {
    var checksums: [(key: Data, checksum: Int64, revision: Int64?)] = []
    try rows(in: db) { row in
      checksums.append((row.keyData, row.checksum, row.isEverRevised ? row.revisionChecksum : nil))
    }
    let update = try db.makeStatement(
      sql: "UPDATE diagnosis_key SET checksum = ?, revision_checksum = ? WHERE key_data = ?")
    for row in checksums {
      try update.execute(arguments: [row.checksum, row.revision, row.key])
    }
  }

  private static func rows(in db: Database, _ body: (StoredKeyRow) throws -> Void) throws {
    let statement = try db.makeStatement(
      sql: "SELECT \(StoredKeyRow.Columns.all.rawValue) FROM diagnosis_key")
    try statement.forEachRow([], in: db) { try body(StoredKeyRow($0, end: .max)) }
  }
}

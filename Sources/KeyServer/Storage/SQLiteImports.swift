// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import ServerStorage
import World

extension SQLiteKeyStore {
  func importedFiles() async throws -> ImportedFiles {
    try await database.read { db in
      var files = ImportedFiles()
      let rows = try Row.fetchCursor(db, sql: "SELECT source, sha256 FROM imported_file")
      while let row = try rows.next() {
        files.names.insert(row[0])
        files.hashes.insert(row[1])
      }
      return files
    }
  }

  func importKeys(_ imported: ImportedKeys) async throws -> (inserted: Int, revised: Int) {
    try await write { db in
      try db.execute(
        sql: """
          INSERT INTO imported_file (sha256, source, imported_at) VALUES (?, ?, ?)
          ON CONFLICT DO NOTHING
          """, arguments: [imported.sha256, imported.source, imported.at.unixSecond])
      // Another import has stored the file since it was looked for.
      guard db.changesCount > 0 else { return (0, 0) }
      let openFrom = try Self.openFrom(in: db)
      let insertion = try KeyInsertion(in: db, releasedFrom: openFrom)
      var counts = (inserted: try insertion.insert(imported.keys), revised: 0)
      let uploads = SQLiteUploads(db: db)
      for key in imported.revised {
        let known = try uploads.known([key])[Data(key.bytes)]
        switch RevisionRule.outcome(ofImported: key.key, known: known) {
        case .insert: counts.inserted += try insertion.insert([key])
        case .revise:
          try uploads.revise(key.released(from: openFrom))
          counts.revised += 1
        case .leave, .drop, .refuse: break
        }
      }
      return counts
    }
  }
}

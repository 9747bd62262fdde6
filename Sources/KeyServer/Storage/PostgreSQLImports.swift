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
    ) { transaction in
      var rows = PostgreSQLUploads([], process: 0)
      let counts = try rows.importKeys(imported, transaction)
      return [counts.inserted, counts.revised]
    }
    return (counts[0], counts[1])
  }
}

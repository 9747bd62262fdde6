// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import World

/// The check of the structure of a database.
package enum DatabaseCheck {
  /// True if SQLite finds no fault. Values are not checked: that needs checksums in the rows.
  package static func isIntact(_ db: Database) throws -> Bool {
    do {
      return try String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok"
    } catch let error as DatabaseError where isDamage(error) {
      return false
    }
  }

  /// True if the error means that the file is damaged or no database.
  static func isDamage(_ error: DatabaseError) -> Bool {
    [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
  }
}

/// The files of an open database: the database and its write-ahead log.
///
/// If someone deletes or replaces one of them, SQLite goes on with the open file. What it writes then is lost when the
/// server stops, so nothing may be acknowledged any more.
package struct DatabaseFile: Sendable {
  private let files: [(path: String, opened: FileVersion)]

  /// The files of the database at `url`, which is open and was written to.
  package init(opened url: URL) {
    files = ["", "-wal"].compactMap { suffix in
      let path = url.path + suffix
      return FileVersion(path: path).map { (path, $0) }
    }
  }

  /// True if each file is still the one that is open.
  package var isInPlace: Bool {
    !files.isEmpty
      && files.allSatisfy { FileVersion(path: $0.path)?.isSameFile(as: $0.opened) == true }
  }
}

/// A checksum over the values of a row, which detects each change of one value, and any other change with near
/// certainty. It does not protect from an attacker.
package struct RowChecksum {
  private var state: UInt64 = 0x9e37_79b9_7f4a_7c15

  package init() {}

  /// Adds a number. The step is a bijection of the state, so a change of one number always changes the checksum.
  package mutating func add(_ number: UInt64) {
    state = (state ^ number) &* 0xff51_afd7_ed55_8ccd
    state ^= state >> 32
  }

  package mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

  /// Adds a number or NULL, which differs from every number.
  package mutating func add(_ number: Int64?) {
    add(UInt64(number == nil ? 1 : 2))
    add(number ?? 0)
  }

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(UInt64(bytes.count))
    var word: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      word = word << 8 | UInt64(byte)
      if index % 8 == 7 { add(word) }
    }
    add(word)
  }

  /// The value for a column.
  package var value: Int64 { Int64(bitPattern: state) }
}

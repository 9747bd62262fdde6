// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// A row of the register whose removal is recorded in `removal`, so that it outlives a restoration.
struct RegisterEntry: Hashable, Sendable {
  let kind: Kind
  /// The primary key, and the public key of an authority's key: another key with the same id is another entry.
  let name: String

  /// The tables of the register.
  enum Kind: String, CaseIterable, Sendable {
    case authority
    case authorityKey = "authority_key"
    case app
    case appAuthority = "app_authority"

    /// The SQL expression of the name of a row of `table`.
    func name(in table: String) -> String {
      switch self {
      case .authority: "\(table).issuer"
      case .authorityKey: "json_array(\(table).issuer, \(table).key_id, \(table).public_key)"
      case .app: "\(table).id"
      case .appAuthority: "json_array(\(table).app_id, \(table).issuer)"
      }
    }

    /// The condition of the rows that can be removed: withdrawn keys stay.
    fileprivate var condition: String {
      self == .authorityKey ? "withdrawn_at IS NULL" : "true"
    }
  }
}

extension RegisterEntry {
  /// The entries of the database that is attached as `database`.
  static func all(in db: Database, of database: String) throws -> Set<RegisterEntry> {
    var entries: Set<RegisterEntry> = []
    for kind in Kind.allCases {
      let names = try String.fetchCursor(
        db,
        sql: """
          SELECT \(kind.name(in: kind.rawValue)) FROM \(database).\(kind.rawValue)
          WHERE \(kind.condition)
          """)
      while let name = try names.next() { entries.insert(RegisterEntry(kind: kind, name: name)) }
    }
    return entries
  }

  /// The recorded removals of the database that is attached as `database`, by their identities. Removals of an unknown
  /// kind are left out.
  static func removals(in db: Database, of database: String) throws -> [Data: RegisterEntry] {
    let rows = try Row.fetchAll(db, sql: "SELECT identity, kind, entry FROM \(database).removal")
    return Dictionary(
      rows.compactMap { row in
        Kind(rawValue: row["kind"]).map {
          (row["identity"], RegisterEntry(kind: $0, name: row["entry"]))
        }
      }
    ) { $1 }
  }

  /// Records a removal that another database has recorded with `identity`.
  func record(_ identity: Data, in db: Database) throws {
    try db.execute(
      sql: "INSERT OR IGNORE INTO main.removal VALUES (?, ?, ?)",
      arguments: [identity, kind.rawValue, name])
  }

  /// Removes the entry from the main database.
  ///
  /// - Returns: False if it has no such entry.
  func remove(in db: Database) throws -> Bool {
    try db.execute(
      sql: """
        DELETE FROM main.\(kind.rawValue)
        WHERE \(kind.name(in: kind.rawValue)) = ? AND \(kind.condition)
        """, arguments: [name])
    return db.changesCount > 0
  }

  /// The issuer or the id of the app, for a message.
  var subject: String {
    switch kind {
    case .authority, .app: name
    case .authorityKey, .appAuthority:
      // The name is the JSON that SQLite has written.
      (try? JSONDecoder().decode([String].self, from: Data(name.utf8)))?.first ?? name
    }
  }
}

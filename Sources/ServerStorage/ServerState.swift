import Foundation
import GRDB
import Secrets

/// The one row of `server_state`, a table that the databases of both servers have: facts about the database itself.
package enum ServerState {
  /// The table and its row.
  ///
  /// Times are in Unix seconds.
  package static let table = """
    CREATE TABLE server_state (
      id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
      secret_check BLOB,
      newest_time INTEGER,
      confirmed_time INTEGER
    ) STRICT;
    INSERT INTO server_state (id) VALUES (1);
    """

  /// True if the database belongs to the secret from which `check` was derived. A new database then belongs to it.
  ///
  /// With another secret, used tokens and codes would not be found and stored keys not decrypted.
  package static func belongs(to check: Data, in db: Database) throws -> Bool {
    guard let stored = try Data.fetchOne(db, sql: "SELECT secret_check FROM server_state") else {
      try db.execute(sql: "UPDATE server_state SET secret_check = ?", arguments: [check])
      return true
    }
    return isEqualInConstantTime(stored, check)
  }
}

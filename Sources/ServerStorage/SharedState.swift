// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import PostgreSQL
import Secrets

/// The secrets and rules of a server that may change while it runs, as its database in PostgreSQL has them for all
/// processes: sealed, with a revision.
package struct SharedState: Hashable, Sendable, Redacted {
  /// 1 or more; each change has a higher one.
  package let revision: Int64
  /// The encrypted content.
  package let sealed: Data

  package init(revision: Int64, sealed: Data) {
    self.revision = revision
    self.sealed = sealed
  }

  /// The SHA-256 of the encrypted content, which differs between two changes of one revision.
  package var digest: Data { Data(SHA256.hash(data: sealed)) }
}

/// The shared state of a server in its database.
extension PostgreSQLServerDatabase {
  /// The table of the state, for the migrations of a schema. It has no row until a process has stored its state.
  package static let sharedStateTable = """
    CREATE TABLE shared_state (
      id smallint PRIMARY KEY CHECK (id = 1),
      revision bigint NOT NULL,
      sealed bytea NOT NULL
    )
    """

  /// Returns the state; nil before a process has stored one.
  ///
  /// - Throws: `ServerDatabaseError`
  package func sharedState() async throws -> SharedState? {
    try await transaction(isRepeatable: true) { transaction in
      let rows = try transaction.run("SELECT revision, sealed FROM shared_state")
      guard rows.count > 0, let revision = rows.integer(0, 0), let sealed = rows.bytes(0, 1) else {
        return nil
      }
      return SharedState(revision: revision, sealed: sealed)
    }
  }

  /// Stores `new` if the state is still `old`; nil for none.
  ///
  /// - Returns: False if another process has stored a state meanwhile.
  /// - Throws: `ServerDatabaseError`
  package func store(_ new: SharedState, replacing old: SharedState?) async throws -> Bool {
    let isStored = try await transaction(isRepeatable: true) { transaction in
      guard let old else {
        return try transaction.run(
          "INSERT INTO shared_state VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING",
          .integer(new.revision), .bytes(new.sealed)
        ).changedCount == 1
      }
      return try transaction.run(
        "UPDATE shared_state SET revision = $1, sealed = $2 WHERE revision = $3 AND sealed = $4",
        .integer(new.revision), .bytes(new.sealed), .integer(old.revision), .bytes(old.sealed)
      ).changedCount == 1
    }
    if isStored { return true }
    // A transaction that was repeated because its outcome was unknown finds its own state.
    return try await sharedState() == new
  }
}

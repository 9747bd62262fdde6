// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import PostgreSQL
import ServerStorage
import Settings
import Terminal
import World

/// A PostgreSQL cluster that had the data of the restored servers before. What was revoked there after the backup stays
/// revoked, also if no folder of its processes is left.
///
/// Its databases, and the state that its processes shared, are copied into an earlier folder. Nothing is changed in it,
/// except that its tables are migrated to those of this version.
struct EarlierCluster {
  let address: PostgreSQLAddress
  /// Receives sentences for the operator.
  let note: @Sendable (String) -> Void

  /// Copies the databases of the servers of `content` into the new folder `url`.
  ///
  /// - Throws: `CommandFailure` if a database cannot be read, is empty, or belongs to other secrets than the backup.
  func folder(of content: BackupContent, at url: URL, now: Date) async throws -> EarlierFolder {
    let folder = ServerFolder(at: url.path)
    for server in content.stored {
      do { try await copy(server, to: folder.server(server.name), at: now) } catch {
        throw failure(server.moveFailure(error))
      }
    }
    return EarlierFolder(folder, of: content.stored, name: "the cluster of --earlier-database")
  }

  private func copy(_ server: StoredServer, to copy: StoredServer, at now: Date) async throws {
    try AtomicFile.makeFolder(copy.folder.folder(of: server.name))
    // The cluster belongs to the same secrets; what changes is replaced by its shared state.
    for (from, to) in [
      (server.secrets.url, copy.secrets.url), (server.settings.url, copy.settings.url),
    ]
    where FileManager.default.fileExists(atPath: from.path) {
      try FileManager.default.copyItem(at: from, to: to)
    }
    var address = address.database(server.postgreSQLName)
    address.mayBeEmpty = false
    let database = server.postgreSQLDatabase(at: address, secret: try server.databaseSecret())
    defer { database.close() }
    if server.name != .console, let secret = try server.identity {
      if let state = try await database.sharedState() {
        try SharedStateSeal(secret, of: server).content(of: state).store(in: copy, at: now)
      } else {
        note(Self.missingState(of: server.name))
      }
    }
    // The shared state has the withdrawn files that phones still know of. The rows of a stopped cluster may be older.
    try await server.moveToFile(withdrawn: nil).copy(database, toNew: copy.database)
  }

  /// A sentence for a server whose processes have not stored what they share.
  private static func missingState(of server: ServerName) -> String {
    let parts =
      server == .keys
      ? "signing keys, the pause and withdrawn files" : "signing keys and API tokens"
    return
      "The cluster of --earlier-database lacks the state that the processes shared. The \(server.title) has the"
      + " \(parts) of the backup: what was revoked after it may be valid again, so revoke it again."
  }

  private func failure(_ error: any Error) -> any Error {
    guard let error = error as? CommandFailure else { return error }
    return CommandFailure(
      status: error.status, message: "--earlier-database: \(error.message) Nothing was restored.")
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Logging
import ServerStorage
import Settings
import Terminal
import World

/// The secrets and rules that all processes with one database in PostgreSQL share.
extension ServerSetup {
  /// The settings of `policy` that are rules for new codes.
  static let ruleNames: Set = [
    "shortCodeDigits", "shortCodeLifetime", "longCodeLifetime", "requiresDate",
  ]

  /// The shared folders of a process, for `shared`: those of `servers`, and of the other servers that have secrets in
  /// the folder, because the console administers them.
  ///
  /// - Parameters:
  ///   - servers: The servers of the process.
  ///   - comparing: False if `SharedFolderFollower` is the first to compare the folders, also with a database that
  ///     cannot be reached yet.
  ///   - logger: Gets the failures of later comparisons.
  /// - Returns: Nil without PostgreSQL.
  /// - Throws: `CommandFailure`
  package func sharedFolders(
    of servers: [ServerName], comparing: Bool = true, logger: Logger
  ) async throws -> SharedFolders? {
    guard database != nil else { return nil }
    let administered = servers.contains(.console) ? ServerName.allCases : servers
    let folders = try administered.filter {
      try servers.contains($0) || folder.server($0).identity != nil
    }.compactMap(sharedFolder)
    if comparing { for folder in folders { try await synchronize(folder) } }
    return SharedFolders(folders, clock: SystemClock(), logger: logger)
  }

  /// Runs `work`, which changes the secrets or rules of `server`, so that all processes get the change, or it fails.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - reseals: True to store the secrets for all processes again, although only the places of keys have changed.
  ///   - work: The change.
  /// - Throws: The error of `work`; `CommandFailure`
  func sharing<Value>(
    _ server: ServerName, reseals: Bool = false,
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Value
  ) async throws -> Value {
    guard let shared = try sharedFolder(of: server) else { return try await work() }
    return try await shared.changing(reseals: reseals, work)
  }

  /// Lets the folder of `server` have the changes of other processes.
  ///
  /// - Throws: `CommandFailure`
  func synchronize(_ server: ServerName) async throws {
    if let shared = try sharedFolder(of: server) { try await synchronize(shared) }
  }

  private func synchronize(_ shared: SharedFolder) async throws {
    do { _ = try await shared.synchronize() } catch let error as ServerDatabaseError {
      throw CommandFailure(error, of: shared.server.schema)
    }
  }

  /// Nil without PostgreSQL, and for the console, whose database has everything.
  private func sharedFolder(of server: ServerName) throws -> SharedFolder? {
    let stored = folder.server(server)
    guard server != .console, let address = try databaseAddress(of: server),
      let secret = try stored.identity
    else { return nil }
    return SharedFolder(
      stored,
      in: stored.postgreSQLDatabase(at: address, secret: secret), clock: SystemClock())
  }

  /// Signs the device configuration again if that is due and its private root key is in the folder, unless another
  /// process has done so.
  ///
  /// - Throws: `CommandFailure`
  func renewDeviceConfiguration() async throws {
    let files = deviceConfiguration
    guard try files.isRenewalDue() else { return }
    do {
      // Has the document of another process at first, which is then complete.
      try await sharing(.keys) {
        try folder.keySecrets.withLock {
          try files.prepare(try KeySecrets.stored(in: folder)?.signingKeys ?? [])
        }
      }
    } catch {
      // Another process was faster, and its document is in the folder.
      guard try files.isRenewalDue() else { return }
      throw error
    }
  }

  /// Signs and stores the next device configuration with `change`, for all processes.
  ///
  /// - Parameters:
  ///   - change: The change; nil to sign again.
  ///   - rootKey: The file of the private root key; nil for the one beside the secrets.
  ///   - lifetimeSeconds: The time until the expiry; nil for that of the newest document.
  ///   - replacesLost: If the newest document was lost, starts with a new one that has its instructions to phones.
  /// - Returns: The document.
  @discardableResult
  package func publish(
    _ change: DocumentChange? = nil, rootKey: String? = nil, lifetimeSeconds: Int64? = nil,
    replacesLost: Bool = false
  ) async throws -> DeviceConfiguration {
    try await sharing(.keys) {
      try deviceConfiguration.publish(
        change, rootKey: rootKey, lifetimeSeconds: lifetimeSeconds, replacesLost: replacesLost)
    }
  }
}

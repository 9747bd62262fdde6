// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import ServerStorage
import Settings
import Terminal
import VerificationServer
import World

/// The changes after the backup in all earlier folders together. Each revocation in one of them is taken over, unless a
/// newer folder that knew of it has ended it.
struct EarlierState {
  /// The newest first.
  private let folders: [EarlierFolder]
  private let content: BackupContent
  private let note: @Sendable (String) -> Void
  /// The servers whose databases have continued after the backup in one of the folders.
  private(set) var continued: Set<ServerName> = []
  private var registers: [RestoredRegistry] = []
  private var consoles: [EarlierConsole] = []

  /// - Parameters:
  ///   - folders: The earlier folders, the newest first.
  ///   - content: The backup, which was extracted and is not in its place yet.
  ///   - note: Receives sentences for the operator.
  init(
    _ folders: [EarlierFolder], of content: BackupContent,
    note: @escaping @Sendable (String) -> Void
  ) {
    (self.folders, self.content, self.note) = (folders, content, note)
  }

  /// Lets the restored servers take the changes over.
  ///
  /// - Parameters:
  ///   - withdrawn: The hashes of all files that phones ignore.
  ///   - console: The restored console, if there is one.
  ///   - now: The time of the restoration.
  mutating func takeOver(
    withdrawn: Set<KeyFileHash>, _ console: ServerSetup?, at now: Date
  ) async throws {
    let accounts = try await console?.accountsOfBackup()
    for folder in folders {
      for server in content.stored {
        var hasReplacedTokens = false
        do {
          try folder.takeOverSecrets(by: server, at: now, hasReplacedTokens: &hasReplacedTokens)
            .forEach(note)
        } catch { note(folder.fault("secrets", of: server.name)) }
        do {
          switch server.name {
          case .verification:
            try endCodes(of: server, in: folder, hasReplacedTokens: hasReplacedTokens, at: now)
          case .keys: try read(server, of: folder, withdrawn: withdrawn)
          case .console:
            if let console, let accounts { try await read(console, of: folder, since: accounts) }
          }
        } catch {
          note(folder.fault("database", of: server.name))
        }
      }
    }
    for server in content.stored where server.name == .keys {
      try removeEntries(from: server)
      if !content.servers.contains(.verification) { takeOverTokenKeys(by: server) }
    }
    if let console, let accounts { try await takeOverAccounts(by: console, since: accounts) }
    EarlierSettings(folders, since: content.createdAt, note: note).takeOver(by: content.stored)
  }

  private mutating func endCodes(
    of server: StoredServer, in folder: EarlierFolder, hasReplacedTokens: Bool, at now: Date
  ) throws {
    let codes = try RestoredCodes.takeOver(
      from: folder.folder.verificationDatabase, by: server.database,
      hasReplacedTokens: hasReplacedTokens, at: now)
    guard let codes else { throw ServerDatabaseError.otherSecret }
    if codes.hasContinued { continued.insert(.verification) }
    folder.kept([("revoked API keys", codes.revokedKeys), ("ended codes", codes.endedCodes)])
      .forEach(note)
  }

  /// Takes over what is final of the key server, and reads what depends on the other folders.
  private mutating func read(
    _ server: StoredServer, of folder: EarlierFolder, withdrawn: Set<KeyFileHash>
  ) throws {
    let register = try RestoredRegistry.takeOver(
      from: folder.folder.keyDatabase, by: server.database, withdrawn: withdrawn)
    guard let register else { throw ServerDatabaseError.otherSecret }
    add(register, of: folder)
  }

  private mutating func read(
    _ console: ServerSetup, of folder: EarlierFolder, since accounts: AccountsOfBackup
  ) async throws {
    let hasContinued = folder.hasContinued(.console)
    consoles.append(
      try await console.changesOfAccounts(
        in: folder.folder.consoleDatabase, hasContinued: hasContinued, since: accounts))
    if hasContinued { continued.insert(.console) }
  }

  private mutating func add(_ register: RestoredRegistry, of folder: EarlierFolder) {
    registers.append(register)
    folder.kept([
      ("withdrawn or ended keys of authorities", register.endedKeys),
      ("keys of withdrawn files, which are not published again", register.withdrawnFileKeys),
      ("revised or revoked diagnosis keys", register.revisedKeys),
    ]).forEach(note)
    if register.hasContinued {
      continued.insert(.keys)
    } else {
      note(
        "\(folder.path) may be older than the backup, or has not continued after it: revocations that it records are"
          + " kept. Other changes of its authorities and apps are not: compare those of `firebreak key-server"
          + " authority list` and `app list` with \(folder.optionOfCommands).")
    }
    guard !register.changed.isEmpty else { return }
    note(
      "Not kept from \(folder.path): changes of authorities and apps: repeat them for"
        + " \(Self.list(register.changed)).")
  }

  /// Takes the token keys over that were copied from another machine, where a key may have been revoked after the
  /// backup.
  private func takeOverTokenKeys(by server: StoredServer) {
    let newest = folders.first {
      $0.had(server) && ($0.hasContinued(.keys) || $0.newestTime > content.createdAt)
    }
    guard let newest else { return }
    let file = server.folder.tokenPublicKeys
    do {
      let (own, newer) = (try file.read(), try newest.folder.tokenPublicKeys.read())
      guard own != newer else { return }
      if newest.hasContinued(.keys) {
        try file.write(newer)
        return note("Kept from \(newest.path): token-keys.json.")
      }
    } catch {
      // The sentence below says what to do.
    }
    note(
      "token-keys.json is that of the backup, and may have a revoked key: copy it again from the folder of the"
        + " verification server.")
  }

  private func removeEntries(from server: StoredServer) throws {
    let removed: RestoredRegistry.Removed
    do { removed = try RestoredRegistry.remove(registers, from: server.database) } catch {
      throw CommandFailure(error, of: server.schema)
    }
    if removed.keys > 0 { note("Kept: removed or replaced keys of authorities, \(removed.keys).") }
    guard !removed.names.isEmpty else { return }
    note("Kept: removed authorities and apps: \(Self.list(removed.names.sorted())).")
  }

  private func takeOverAccounts(
    by console: ServerSetup, since accounts: AccountsOfBackup
  ) async throws {
    let taken = try await console.takeOverAccounts(from: consoles, since: accounts)
    for (what, names) in [
      ("disabled accounts", taken.disabled),
      ("accounts with changed passwords or removed passkeys", taken.changed),
    ] where !names.isEmpty { note("Kept: \(what): \(Self.list(names)).") }
    if taken.decidedRequests > 0 { note("Kept: decided requests, \(taken.decidedRequests).") }
    guard !taken.lastAdministrators.isEmpty else { return }
    note(
      "Not kept: the disabling of the last administrator: add another one, then disable"
        + " \(Self.list(taken.lastAdministrators)).")
  }

  private static func list(_ names: [String]) -> String {
    names.map(\.printable).joined(separator: ", ")
  }
}

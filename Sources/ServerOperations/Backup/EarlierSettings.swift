// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import Settings
import Terminal
import TextEncodings
import World

/// The settings that were changed after the backup. The remote configuration, which two people approve and whose older
/// versions phones reject, is taken over. Other settings are named.
struct EarlierSettings {
  private static let remoteConfiguration = "remoteConfiguration"

  /// The newest first.
  private let folders: [EarlierFolder]
  private let backup: Date
  private let note: @Sendable (String) -> Void

  /// - Parameters:
  ///   - folders: The earlier folders, the newest first.
  ///   - backup: The time of the backup.
  ///   - note: Receives sentences for the operator.
  init(_ folders: [EarlierFolder], since backup: Date, note: @escaping @Sendable (String) -> Void) {
    (self.folders, self.backup, self.note) = (folders, backup, note)
  }

  func takeOver(by stored: [StoredServer]) {
    for server in stored {
      let newer = folders.filter { folder in
        folder.had(server) && (folder.hasContinued(server.name) || folder.newestTime > backup)
      }
      if server.name == .keys { takeOverRemoteConfiguration(from: newer, by: server) }
      if server.name == .verification, let newest = newer.first, newest.isCopy {
        takeOverRules(from: newest, by: server)
      }
      if let newest = newer.first { nameChanges(in: newest, of: server) }
    }
  }

  /// Takes over the rules for new codes that the processes of a cluster shared: they are in no file that stays.
  private func takeOverRules(from folder: EarlierFolder, by server: StoredServer) {
    do {
      let rules = try SharedCodes(folder.folder.server(server.name))
      guard try rules?.storeRules(in: server.settings) == true else { return }
      note("Kept from \(folder.path): the rules for new codes.")
    } catch {
      note("The rules for new codes may be those of the backup: compare them in the console.")
    }
  }

  /// Takes the remote configuration with the highest version over.
  private func takeOverRemoteConfiguration(from newer: [EarlierFolder], by server: StoredServer) {
    do {
      let own = try Self.remoteConfiguration(in: server.folder)
      var newest = (configuration: own, path: "")
      for folder in newer {
        // Settings that cannot be read are reported below.
        guard let other = try? Self.remoteConfiguration(in: folder.folder),
          other.version > newest.configuration.version, other.fault == nil
        else { continue }
        newest = (other, folder.path)
      }
      guard newest.configuration != own else { return }
      try server.settings.replace(
        Self.remoteConfiguration, with: JSONValue(encoding: newest.configuration))
      note(
        "Kept from \(newest.path): the remote configuration, version \(newest.configuration.version)."
      )
    } catch {
      note(
        "The remote configuration may be that of the backup, whose version phones may reject: compare it in the"
          + " console, and approve a new one.")
    }
  }

  private static func remoteConfiguration(in folder: ServerFolder) throws -> RemoteConfiguration {
    try ServerSetup(folder: folder) { _ in }.keySettings().configuration.remoteConfiguration
  }

  private func nameChanges(in folder: EarlierFolder, of server: StoredServer) {
    let file = folder.folder.server(server.name).settings
    let path = file.url.path.printable
    do {
      let (own, other) = (
        try server.settings.read()?.fields ?? [:], try file.read()?.fields ?? [:]
      )
      let names = Set(own.keys).union(other.keys).filter { name in
        own[name] != other[name]
          && !(name == Self.remoteConfiguration && isKept(from: folder, by: server))
      }
      guard !names.isEmpty else { return }
      note(
        "Not kept from \(folder.path): changed settings of the \(server.name.title)"
          + " (\(names.sorted().map(\.printable).joined(separator: ", "))): compare them with \(path)."
      )
    } catch {
      note(
        "The settings of the \(server.name.title) are those of the backup: compare them with \(path), which cannot"
          + " be read.")
    }
  }

  /// True if the restored remote configuration is that of the folder, or newer.
  private func isKept(from folder: EarlierFolder, by server: StoredServer) -> Bool {
    // Settings that cannot be read are named.
    guard let own = try? Self.remoteConfiguration(in: server.folder),
      let other = try? Self.remoteConfiguration(in: folder.folder)
    else { return false }
    return own == other || own.version > other.version
  }
}

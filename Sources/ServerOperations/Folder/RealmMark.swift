// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Terminal
import TextEncodings
import World

/// The names of the realms in the settings of the installation.
///
/// A version that does not know realms refuses the unknown setting, instead of serving `main` at the hosts of all. A
/// realm that is listed and has no folder was lost, and not removed.
struct RealmMark {
  private static let setting = "realms"

  /// The settings that have the names, by server. The console refuses unknown hosts itself.
  private let files: [(server: ServerName, settings: SettingsFile)]

  init(in folder: ServerFolder) {
    files = [(.verification, folder.verificationSettings), (.keys, folder.keySettings)]
  }

  /// Throws if a realm is listed that is not one of `present`.
  func requireAll(of present: [String]) throws {
    for (_, settings) in files {
      guard let lost = names(in: settings).subtracting(present).min() else { continue }
      throw CommandFailure.badInput(
        "The realm \(lost.printable) has no folder, although \(settings.url.path.printable) lists it: restore it with"
          + " `firebreak restore FILE --realm \(lost.printable)`, or remove its name from `realms` there."
      )
    }
  }

  /// Adds `names` to the settings of `servers`, whose folders exist.
  func add(_ names: [String], to servers: [ServerName]) throws {
    for (server, settings) in files where servers.contains(server) {
      try withLock(on: settings) {
        let present = self.names(in: settings)
        guard !present.isSuperset(of: names) else { return }
        try write(present.union(names), to: settings)
      }
    }
  }

  /// Removes `name` from the settings of all servers.
  func remove(_ name: String) throws {
    for (_, settings) in files where FileManager.default.fileExists(atPath: settings.url.path) {
      try withLock(on: settings) {
        let present = names(in: settings)
        guard present.contains(name) else { return }
        try write(present.subtracting([name]), to: settings)
      }
    }
  }

  /// Runs `work` while neither a server nor another command changes the file.
  private func withLock(on settings: SettingsFile, _ work: () throws -> Void) throws {
    let folder = settings.url.deletingLastPathComponent()
    do { try FolderLock.withLockBlocking(on: folder, work) } catch is FileError {
      throw CommandFailure.machineFailed(
        "\(folder.path.printable) could not be locked: check its owner and permissions, then retry."
      )
    }
  }

  private func write(_ names: Set<String>, to settings: SettingsFile) throws {
    guard !names.isEmpty else { return try settings.remove(Self.setting) }
    try settings.replace(Self.setting, with: .array(names.sorted().map(JSONValue.string)))
  }

  private func names(in settings: SettingsFile) -> Set<String> {
    // Damaged settings are the error of the server. A restoration of it must not fail because of them.
    guard case .array(let list)? = (try? settings.read())?[Self.setting] else { return [] }
    return Set(list.compactMap(\.string))
  }
}

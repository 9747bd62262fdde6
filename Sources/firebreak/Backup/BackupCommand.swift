// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerOperations
import Settings
import Terminal

/// `firebreak backup FILE`: copies everything of the servers of one folder into one file, also while they run.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy all data of the servers to one new file, as of one moment, while they run.",
    discussion: """
      The file has, for each server in DIR, the database, the secrets, and the settings with the files that they \
      name in the server's folder; for the key server also the device configuration and, if it is in the folder, the \
      root key. Data in PostgreSQL is read from the cluster of DATABASE_URL. Texts that wait in a file or folder for \
      an SMS gateway are not included. Protect the file like the secrets. `verify-backup` checks it, `restore` \
      creates the servers from it.
      """)

  private struct Report: Encodable {
    let file: String
    let bytes: Int
    let servers: [String]
    /// The files that the settings name outside the servers' folders.
    let notIncluded: [String]
  }

  @Argument(help: "The new file; it must not exist.")
  var file: String

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func run() async throws {
    let url = URL(fileURLWithPath: file)
    let folder = try servers.ofOneAuthority(ServerFolder(existing: servers.data))
    let setup = try servers.setup(folder, database: DatabaseOptions.addressOfEnvironment)
    let backup = try await setup.backUp(to: url)
    for path in backup.notIncluded {
      note("\(path.printable) is not in the backup: copy it separately.")
    }
    if backup.servers.contains(.keys), let store = try setup.keySettings().files {
      note(
        "The key files in \(store.printable) are not in the backup: after a restoration the server writes those of"
          + " its database again, under new names, and removes the others.")
    }
    try report.write(
      Report(
        file: url.path, bytes: backup.bytes, servers: backup.servers.map(\.rawValue),
        notIncluded: backup.notIncluded),
      "Wrote \(url.path.printable), \(backup.bytes) bytes: \(backup.servers.titles).")
  }
}

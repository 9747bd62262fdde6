// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerOperations
import Terminal

/// `firebreak restore FILE`: creates the servers of a backup.
struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore all servers of a backup, whole or not at all.",
    discussion: """
      Every byte of the backup is checked first. The folders of its servers in DIR must be empty or missing: with \
      --replace a present DIR is moved away. What was revoked, withdrawn, disabled or ended after the backup stays \
      so if the earlier folders of the servers are beside DIR, where --replace leaves them. Changed authorities and \
      settings are named. Uploads and new codes since the backup are lost. With --database or DATABASE_URL the data \
      gets into the empty databases of that PostgreSQL cluster, also if it was in files before.
      """)

  @OptionGroup var backup: BackupArgument
  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var root: RootKeyOptions
  @OptionGroup var cluster: DatabaseOptions

  @Flag(help: "Move a present folder away first; its servers must be stopped.")
  var replace = false

  func run() async throws {
    try backup.refuseOtherThanFile()
    let folder = ServerFolder(at: servers.data)
    let content = try await Restoration(
      into: folder, replaces: replace, rootKey: root.rootKey, database: cluster.address
    ) { note($0) }.restore(backup.url)
    try report.write(
      BackupReport(content), "Restored \(folder.url.path.printable) from \(content.sentence).")
  }
}

// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerOperations
import Terminal

/// `firebreak restore FILE`: creates the servers of a backup.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore all servers of a backup, whole or not at all.",
    discussion: """
      Every byte of the backup is checked first. The folders of its servers in DIR must be empty or missing: move a \
      damaged DIR away. Uploads, codes and used tokens since the backup are lost.
      """)

  @OptionGroup var backup: BackupArgument
  @OptionGroup var report: ServerCommandOptions

  func run() throws {
    try backup.refuseOtherThanFile()
    let folder = ServerFolder(at: report.options.data)
    let content = try Restoration(into: folder).restore(backup.url)
    try report.write(
      BackupReport(content), "Restored \(folder.url.path.printable) from \(content.sentence).")
  }
}

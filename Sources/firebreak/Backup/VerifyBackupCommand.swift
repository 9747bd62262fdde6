// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerStorage
import Terminal
import World

/// `firebreak verify-backup FILE`: checks a backup without restoring it.
struct VerifyBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify-backup",
    abstract: "Check every byte of a backup and the structure of its databases.",
    discussion: """
      The databases are extracted to a private folder in TMPDIR, which is removed at the end. Exit code 2 if the \
      backup is damaged, or was written by a newer version.
      """)

  @OptionGroup var backup: BackupArgument

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    try backup.refuseOtherThanFile()
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("firebreak-backup-\(UUID().uuidString)")
    defer { FileManager.default.removeUnneeded(folder) }
    let content = try BackupFailure.reporting {
      let content = try BackupContent(of: backup.url, extractedTo: folder) {
        $0.hasSuffix(".sqlite")
      }
      for server in content.servers {
        try BackupReader.check(server.database, schema: server.schema, of: backup.url)
      }
      return content
    }
    try json
      ? printJSON(content.report)
      : StandardOutput.write("\(backup.file.printable) is complete: \(content.sentence).")
  }
}

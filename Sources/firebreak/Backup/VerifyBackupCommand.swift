// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ServerOperations
import Terminal

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
    let content = try BackupContent(verifying: backup.url)
    try json
      ? printJSON(BackupReport(content))
      : StandardOutput.write("\(backup.file.printable) is complete: \(content.sentence).")
  }
}

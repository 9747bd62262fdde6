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
      so if the earlier folders of the servers are beside DIR, where --replace leaves them, or their earlier \
      PostgreSQL cluster is named by --earlier-database. Changed authorities and settings are named. Uploads and new \
      codes since the backup are lost. With --database or DATABASE_URL the data gets into the empty databases of that \
      PostgreSQL cluster, also if it was in files before.
      """)

  @OptionGroup var backup: BackupArgument
  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var root: RootKeyOptions
  @OptionGroup var cluster: DatabaseOptions

  @Option(
    help: ArgumentHelp(
      """
      The PostgreSQL cluster that had the databases before, if its primary still accepts writes; DATABASE_EARLIER_URL, \
      too, which other users of the machine do not see.
      """, valueName: "url"))
  var earlierDatabase: String?

  @Flag(help: "Move a present folder away first; its servers must be stopped.")
  var replace = false

  /// The folder of the servers, or that of `--realm`, which need not exist.
  private func restoredFolder() throws -> ServerFolder {
    let folder = ServerFolder(at: servers.data)
    guard let realm = servers.realm, realm != Realm.main else {
      return try servers.ofOneAuthority(folder)
    }
    guard Realm.isName(realm) else {
      throw CommandFailure.badInput("\(realm.printable) is not the name of a realm.")
    }
    return folder.folder(ofRealm: realm)
  }

  func run() async throws {
    try backup.refuseOtherThanFile()
    let folder = try restoredFolder()
    let content = try await Restoration(
      into: folder, replaces: replace, rootKey: root.rootKey, database: cluster.address,
      earlierDatabase: DatabaseOptions.address(earlierDatabase, or: "DATABASE_EARLIER_URL")
    ) { note($0) }.restore(backup.url)
    try report.write(
      BackupReport(content), "Restored \(folder.url.path.printable) from \(content.sentence).")
  }
}

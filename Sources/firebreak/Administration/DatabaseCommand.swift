// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerOperations
import Terminal

/// `firebreak database`: the databases of the servers.
struct DatabaseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "database",
    abstract: "Check, migrate and move the databases of the servers.",
    subcommands: [CheckDatabaseCommand.self, MigrateDatabaseCommand.self, MoveDatabaseCommand.self])
}

/// `database move`
struct MoveDatabaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move the databases of the stopped servers between DIR and PostgreSQL.",
    discussion: """
      Every row is compared before the copy is stored. Without options the files of DIR are copied to the cluster of \
      DATABASE_URL, and stay in DIR with names that end in .sqlite.moved. With --to-files the way is the \
      other one, and with --target the databases are copied to another cluster; then their tables stay in a schema \
      whose name begins with moved_. Delete what stays when the servers work. In a folder with realms move each \
      with --realm, and main, before the start.
      """)

  private struct Report: Encodable {
    /// The numbers of copied rows by server and table.
    let rows: [String: [String: Int]]
    /// The files or schemas that have the data still.
    let files: [String]
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var cluster: DatabaseOptions

  @Flag(help: "Copy the databases from PostgreSQL to files in DIR.")
  var toFiles = false

  @Option(
    help: ArgumentHelp(
      "The cluster that gets the databases of DATABASE_URL; DATABASE_TARGET_URL, too.",
      valueName: "url"))
  var target: String?

  func validate() throws {
    guard !toFiles || target == nil else {
      throw ValidationError("--to-files and --target are two moves: choose one.")
    }
  }

  func run() async throws {
    let folder = try servers.ofOneAuthority(ServerFolder(existing: servers.data))
    let setup = try servers.setup(folder, database: cluster.address)
    let address = try toFiles ? nil : DatabaseOptions.address(target, or: "DATABASE_TARGET_URL")
    let moved =
      if toFiles {
        try await setup.moveDatabasesToFiles()
      } else if let address {
        try await setup.moveDatabases(to: address)
      } else {
        try await setup.moveDatabases()
      }
    let lines = moved.map { database in
      let count = database.rows.values.reduce(0, +)
      let isSchema = toFiles || address != nil
      let advice = database.leftover.map {
        " Delete \(isSchema ? "the schema " : "")\($0.printable) later."
      }
      return "Moved \(count) rows of the \(database.server.title).\(advice ?? "")"
    }
    try report.write(
      Report(
        rows: Dictionary(uniqueKeysWithValues: moved.map { ($0.server.rawValue, $0.rows) }),
        files: moved.compactMap(\.leftover)), lines.joined(separator: "\n"))
  }
}

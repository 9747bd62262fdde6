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
    abstract: "Copy the databases of the stopped servers from DIR to PostgreSQL.",
    discussion: """
      Every row is compared before the copy is stored. Afterwards the servers need DATABASE_URL. The files stay in DIR \
      as verification.sqlite.moved and keys.sqlite.moved: delete them when the servers work.
      """)

  private struct Report: Encodable {
    /// The numbers of copied rows by server and table.
    let rows: [String: [String: Int]]
    let files: [String]
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var cluster: DatabaseOptions

  func run() async throws {
    let folder = try ServerFolder(existing: servers.data)
    let setup = try servers.setup(folder, database: cluster.address)
    let moved = try await setup.moveDatabases()
    let lines = moved.map { database in
      let count = database.rows.values.reduce(0, +)
      return
        "Moved \(count) rows of the \(database.server.title). Delete \(database.file.path.printable) later."
    }
    try report.write(
      Report(
        rows: Dictionary(uniqueKeysWithValues: moved.map { ($0.server.rawValue, $0.rows) }),
        files: moved.map(\.file.path)), lines.joined(separator: "\n"))
  }
}

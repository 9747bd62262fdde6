// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ServerOperations
import Terminal

/// `database migrate`
struct MigrateDatabaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Create or migrate the tables of the databases, before the servers start.",
    discussion: """
      With DATABASE_URL of a role that owns the databases, the servers can run with a role that may not change tables: \
      it gets the rights that they need. Databases in files are migrated while no server runs.
      """)

  private struct Report: Encodable {
    struct Database: Encodable {
      let server: String
      let database: String
      let earlierVersion: Int
      let version: Int
      let role: String?
    }
    let databases: [Database]
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var cluster: DatabaseOptions

  @Option(
    help: ArgumentHelp(
      "The role of the servers in PostgreSQL; by default that with the name of each database.",
      valueName: "NAME"))
  var role: String?

  func run() async throws {
    let address = try cluster.address
    guard address != nil || role == nil else {
      throw CommandFailure.badInput(
        "--role is a role of PostgreSQL: set DATABASE_URL to the address of the cluster, or omit it."
      )
    }
    let folder =
      try address == nil
      ? ServerFolder(existing: servers.data) : ServerFolder(at: servers.data)
    let setup = try servers.setup(servers.ofOneAuthority(folder), database: address)
    let migrated = try await setup.migrateDatabases(grantingTo: role)
    try report.write(
      Report(
        databases: migrated.map {
          .init(
            server: $0.server.rawValue, database: $0.database, earlierVersion: $0.earlierVersion,
            version: $0.version, role: $0.role)
        }), migrated.map(\.sentence).joined(separator: "\n"))
  }
}

extension ServerSetup.MigratedDatabase {
  fileprivate var sentence: String {
    let change =
      switch earlierVersion {
      case version: "schema \(version), nothing to migrate"
      case 0: "created with schema \(version)"
      default: "migrated from schema \(earlierVersion) to \(version)"
      }
    return
      "\(database): \(change)\(role.map { "; the role \($0.printable) has its rights" } ?? "")."
  }
}

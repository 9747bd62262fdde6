// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ServerOperations
import Terminal

/// `database check`
struct CheckDatabaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check every row of the databases, also while the servers run.",
    discussion: """
      Nothing is changed. Exit code 1 if a database is damaged, empty, of an older version, or cannot be changed by \
      its role.
      """)

  fileprivate struct Report: Encodable {
    struct Database: Encodable {
      let server: String
      let database: String
      let version: Int?
      let newestVersion: Int?
      let rows: [String: Int]?
      let partitions: [String: Int]?
      /// Nil if the rows were not checked.
      let damagedRows: Int?
      let fault: String?
    }
    let databases: [Database]
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var cluster: DatabaseOptions

  func run() async throws {
    let address = try cluster.address
    let folder =
      try address == nil
      ? ServerFolder(existing: servers.data) : ServerFolder(at: servers.data)
    let checked = try await servers.setup(servers.ofOneAuthority(folder), database: address)
      .checkDatabases()
    let lines = checked.compactMap(\.sentence).joined(separator: "\n")
    if report.json || !lines.isEmpty {
      try report.write(Report(databases: checked.map(\.report)), lines)
    }
    let faults = checked.compactMap(\.fault)
    guard let status = faults.map(\.status).max(by: { $0.rawValue < $1.rawValue }) else { return }
    throw CommandFailure(
      status: status, message: faults.map(\.message).joined(separator: "\n"))
  }
}

extension ServerSetup.CheckedDatabase {
  /// The content of the database; nil if it could not be read.
  fileprivate var sentence: String? {
    guard let content else { return nil }
    let rows = content.rows.values.reduce(0, +)
    let damaged =
      switch content.damagedRows {
      case nil: "not checked"
      case 0?: "none damaged"
      case let count?: "\(count) damaged"
      }
    let partitions = content.partitions.isEmpty ? "" : ", \(content.partitions.count) partitions"
    return "\(database): \(server.title), schema \(content.version) of \(content.newestVersion),"
      + " \(rows) rows in \(content.rows.count) tables\(partitions), \(damaged)."
  }

  fileprivate var report: CheckDatabaseCommand.Report.Database {
    .init(
      server: server.rawValue, database: database, version: content?.version,
      newestVersion: content?.newestVersion, rows: content?.rows, partitions: content?.partitions,
      damagedRows: content?.damagedRows, fault: fault?.message)
  }
}

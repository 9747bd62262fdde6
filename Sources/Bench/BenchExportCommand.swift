// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import PostgreSQL
import Terminal

/// `firebreak bench export`: measures an export from committed rows to the synced zip and index.
struct BenchExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Measure the time and memory of an export.",
    discussion: """
      Another process creates and commits the keys. The measurement covers the work of the key server at \
      the end of a period: close it, read, encode, hash, deflate and sign the keys, write, sync and rename \
      the zip and the index. The memory is the peak of the whole process, the processor time that of all its threads.
      """)

  @Option(help: "The number of keys, 1 to 500,000 (one file).")
  var keys = 500_000

  @Option(
    help: ArgumentHelp(
      "An empty database in PostgreSQL, which keeps the keys; its password is in PGPASSWORD. By default SQLite.",
      valueName: "url"))
  var database: String?

  @Flag(help: ArgumentHelp("The database has the keys already.", visibility: .hidden))
  var filled = false

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard ExportBench.keyCounts.contains(keys) else {
      throw ValidationError(
        "--keys must be between \(ExportBench.keyCounts.lowerBound) and "
          + "\(ExportBench.keyCounts.upperBound).")
    }
    if let database {
      do { _ = try PostgreSQLAddress(database) } catch {
        throw ValidationError("--database: \(error)")
      }
    }
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    let report = try await ExportBench(keyCount: keys, database: database, isFilled: filled).run()
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

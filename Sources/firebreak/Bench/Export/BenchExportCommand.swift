import ArgumentParser
import World

/// `firebreak bench export`: from committed rows to the renamed and synced zip and index.
struct BenchExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export keys and measure the time and the memory it takes.",
    discussion: """
      Another process makes the keys and commits them. Measured is what the key server does at the end \
      of a period: close it, read, encode, hash, deflate and sign the keys, write, sync and rename the \
      zip and the index. The memory is the most the whole process ever held.
      """)

  @Option(help: "How many keys, 1 to 500,000: one file.")
  var keys = 500_000

  @Option(help: "A PostgreSQL cluster; not there yet.")
  var database: String?

  @Flag(help: "Print one JSON object and nothing else.")
  var json = false

  func validate() throws {
    guard ExportBench.keyCounts.contains(keys) else {
      throw ValidationError(
        "--keys takes \(ExportBench.keyCounts.lowerBound) to \(ExportBench.keyCounts.upperBound).")
    }
    guard database == nil else {
      throw ValidationError("--database is not there yet: leave it out to measure SQLite.")
    }
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    let report = try await ExportBench(keyCount: keys).run()
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

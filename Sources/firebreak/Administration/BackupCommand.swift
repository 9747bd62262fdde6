import ArgumentParser
import Foundation

/// `backup FILE`: the server's database as it is now, while the server runs.
struct BackupCommand<Owner: ServerOwner>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "backup",
      abstract: "Copy the database to a new file, whole or not at all, while the server runs.",
      discussion: "The secrets are not in it: they are one small file beside the database.")
  }

  /// What was written.
  private struct Report: Encodable {
    let file: String
    let bytes: Int
  }

  @Argument(help: "The file to write; it must not be there yet.")
  var file: String

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let url = URL(fileURLWithPath: file)
    let folder = try ServerFolder(existing: options.data, of: Owner.server)
    try DatabaseBackup(database: Owner.database(of: folder)).write(to: url)
    let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    let report = Report(file: url.path, bytes: size?.intValue ?? 0)
    try json
      ? printJSON(report)
      : StandardOutput.write("Wrote \(report.file), \(report.bytes) bytes.")
  }
}

import ArgumentParser
import KeyServer

/// `app add`: an app, its regions, and whose certificates it may use.
struct AppAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Let an app publish; one of the same id is replaced.")

  /// What was written down.
  private struct Report: Encodable {
    let id: String
    let regions: [String]
    let authorities: [String]
  }

  @Argument(help: "The app's id, such as its package name.")
  var id: String

  @Option(name: .customLong("region"), help: "Where its keys count; may be given several times.")
  var regions: [String]

  @Option(
    name: .customLong("authority"), help: "The issuer whose certificates it may use; several times."
  )
  var authorities: [String]

  @OptionGroup var folder: DataOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await folder.register().adding {
      try await $0.add(
        AuthorizedApp(id: id, regions: Set(regions), authorities: Set(authorities)))
    }
    try json
      ? printJSON(Report(id: id, regions: regions.sorted(), authorities: authorities.sorted()))
      : StandardOutput.write("\(id.printable) may publish.")
  }
}

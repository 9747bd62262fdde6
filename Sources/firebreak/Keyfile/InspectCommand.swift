import ArgumentParser
import DiagnosisKeyFile
import Foundation

/// Says what a key file holds, believing none of it.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show the period, region, counts and signatures of a key file.",
    discussion: "Nothing is verified here: that is what `firebreak keyfile verify` does.")

  @Argument(help: "A zip, or an export.bin with its export.sig beside it.")
  var file: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let url = URL(fileURLWithPath: file)
    let facts = try UnverifiedKeyFile(at: url).inspect()
    if json {
      try printJSON(KeyFileReport(facts))
    } else {
      try StandardOutput.write(KeyFileTable(name: url.lastPathComponent, facts: facts).text)
      try StandardOutput.write(
        "Nothing of this is verified: firebreak keyfile verify --public-key PEM \(file)")
    }
  }
}

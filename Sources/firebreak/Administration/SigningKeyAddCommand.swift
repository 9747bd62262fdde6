import ArgumentParser
import Foundation

/// `signing-key add`: one key more, beside those there are.
struct SigningKeyAddCommand<Owner: ServerOwner>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "add", abstract: "Add a new key, from now or later; the others go on.")
  }

  @OptionGroup var options: ServerOptions

  @Option(help: "From when it signs, in Unix seconds; without, from now.")
  var from: Int64?

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard SigningKeyTimes.seconds.contains(from ?? 0) else {
      throw ValidationError("--from takes 0 to \(SigningKeyTimes.seconds.upperBound).")
    }
  }

  func run() throws {
    let setup = ServerSetup(folder: try ServerFolder(path: options.data), options: options)
    let keys = try Owner.changingKeys(of: setup) { keys in
      keys.append(Owner.newKey(after: keys, from: SigningKeyTimes.date(from)))
    }
    try SigningKeyReport(keys).print(asJSON: json)
  }
}

import ArgumentParser
import Foundation

/// `signing-key rotate`: a new key now, and an end for the older ones.
struct SigningKeyRotateCommand<Owner: ServerOwner>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "rotate", abstract: "Add a new key and end the older ones after an overlap.",
      discussion: """
        A key server that runs follows at its next export, a verification server in seconds. \
        Without --overlap the older keys end after \(Owner.overlapSeconds) seconds.
        """)
  }

  @OptionGroup var options: ServerOptions

  @Option(help: "Seconds that the older keys go on.")
  var overlap: Int?

  @Option(help: "From when the new key signs, in Unix seconds; without, from now.")
  var from: Int64?

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard SigningKeyTimes.seconds.contains(from ?? 0) else {
      throw ValidationError("--from takes 0 to \(SigningKeyTimes.seconds.upperBound).")
    }
    guard SigningKeyTimes.overlaps.contains(overlap ?? 0) else {
      throw ValidationError("--overlap takes 0 to \(SigningKeyTimes.overlaps.upperBound).")
    }
  }

  func run() throws {
    let setup = ServerSetup(folder: try ServerFolder(path: options.data), options: options)
    let begin = SigningKeyTimes.date(from)
    let end = Int64(begin.timeIntervalSince1970) + Int64(overlap ?? Owner.overlapSeconds)
    let keys = try Owner.changingKeys(of: setup) { keys in
      let new = Owner.newKey(after: keys, from: begin)
      for index in keys.indices { keys[index].validThru = min(keys[index].validThru ?? end, end) }
      keys.append(new)
    }
    try SigningKeyReport(keys).print(asJSON: json)
  }
}

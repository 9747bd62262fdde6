import ArgumentParser
import Foundation

/// `signing-key rotate`: a new key now, and an end for the older ones.
struct SigningKeyRotateCommand<Owner: ServerOwner>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "rotate", abstract: "Add a new key and end the older ones after an overlap.",
      discussion: """
        The key server follows at its next export; the verification server when it is started again. \
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
    let folder = try ServerFolder(path: options.data)
    var keys = try Owner.signingKeys(of: folder, options)
    let begin = SigningKeyTimes.date(from)
    let end = Int64(begin.timeIntervalSince1970) + Int64(overlap ?? Owner.overlapSeconds)
    let new = Owner.newKey(after: keys, from: begin, options)
    for index in keys.indices { keys[index].validThru = min(keys[index].validThru ?? end, end) }
    try Owner.keep(keys + [new], in: folder, options)
    try SigningKeyReport(keys + [new]).print(asJSON: json)
  }
}

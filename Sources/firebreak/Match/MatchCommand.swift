import ArgumentParser
import DiagnosisKeyFile
import ExposureNotification
import Foundation
import World

/// Matches key files against sightings, with no rule but the tolerance.
struct MatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "match",
    abstract: "Match key files against sightings: raw matches, no replay rule, no retention.",
    discussion: """
      The CSV has the header \(SightingsCSV.header): 16 bytes and 4 bytes in hex, Unix seconds, \
      dBm. A sighting matches up to two hours before or after its identifier's time. With \
      --public-key every file must be signed by this key; without it, every file must be signed by \
      somebody; with --unsigned signatures are not looked at. Exit code 1: a file is not signed so.
      """)

  @Option(help: "What was heard: a CSV.")
  var sightings: String

  @Option(help: "The authority's P-256 public key, in PEM.")
  var publicKey: String?

  @Flag(help: "Take files that nobody signed.")
  var unsigned = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @Argument(help: "Key files: zips, or export.bin.")
  var files: [String]

  func validate() throws {
    guard publicKey == nil || !unsigned else {
      throw ValidationError("Give --public-key or --unsigned, not both.")
    }
  }

  func run() throws {
    let trust = try KeyFileTrust(publicKey: publicKey, takesUnsigned: unsigned)
    let heard = try SightingsCSV(at: sightings).sightings
    var report = MatchReport()
    let secret = ProbeSecret(from: SystemRandomness())
    var search = KeySearch(Matcher(ContactIndex(heard, secret: secret)))
    var matches = RawMatches()
    let time = try ContinuousClock().measure {
      for file in files {
        report.add(try search.run(into: &matches) { each in try trust.read(file, each: each) })
      }
    }
    report.add(matches, time: time)
    if trust == .anySigner {
      note("The signatures were not checked: give the authority's key with --public-key.")
    }
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

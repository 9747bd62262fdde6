import ArgumentParser
import ExposureNotification
import Foundation
import Terminal

/// `firebreak bench match`: measures matching per key.
struct BenchMatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "match",
    abstract: "Measure matching of a generated workload against the limit of the machine.",
    discussion: """
      Key starts are spread evenly over 14 days and keys are valid for a day; sightings are distinct and \
      spread over the same days; one key in 10,000 matches (at least one). The matcher must find exactly \
      these matches, otherwise the exit code is 1. See Documentation/Performance.md.
      """)

  @Option(help: "The number of published keys.")
  var keys = 1_000_000

  @Option(help: "The number of received identifiers.")
  var sightings = 20_000

  @Option(
    help:
      "memory (matching only), file (unzipped, no signature check) or zip (all steps of a phone)."
  )
  var from = KeySource.file

  @Option(
    help: "The number of matching threads; from 2 on the limit is measured on as many threads.")
  var threads = 1

  @Option(
    help:
      "portable, aesni-shani, vaes256, vaes512 or arm64; the fastest available by default.")
  var tier: MatchTier?

  @Option(help: "Keep key files, their public key and the sightings in this folder.")
  var keep: String?

  @Option(help: "The random seed; the same seed gives the same workload.")
  var seed: UInt64 = 1

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    try BenchLimit.check(keys, BenchLimit.keys, "--keys")
    try BenchLimit.check(sightings, BenchLimit.sightings, "--sightings")
    try BenchLimit.check(threads, BenchLimit.threads, "--threads")
    let planted = MatchWorkload.plantedCount(ofKeys: keys)
    guard planted <= sightings else {
      throw ValidationError(
        "One key in \(MatchWorkload.keysPerMatch) matches: use --sightings \(planted) or more.")
    }
  }

  func run() throws {
    let tier = try tier?.checkedForAvailability() ?? .fastest
    BuildKind.warnUnlessRelease()
    let folder = try BenchFolder(keep: keep)
    let cleanUp = CleanUp(folder.removeUnlessKept)
    defer { cleanUp.run() }
    let workload = MatchWorkload(keys: keys, sightings: sightings, seed: seed)
    let bench = MatchBench(
      workload: workload, source: from, threads: threads, tier: tier, folder: folder,
      isKept: keep != nil)
    let report = try bench.run()
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

extension MatchTier: ExpressibleByArgument, Encodable {
  /// Returns the tier, or throws a `CommandFailure` that lists the tiers of this machine.
  func checkedForAvailability() throws -> MatchTier {
    guard !isAvailable else { return self }
    let names = Self.available.map(\.rawValue).joined(separator: ", ")
    throw CommandFailure.badInput(
      "This machine does not support the tier \(rawValue): use one of \(names).")
  }
}

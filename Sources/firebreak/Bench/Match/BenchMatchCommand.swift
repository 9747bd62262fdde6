import ArgumentParser
import ExposureNotification
import Foundation

/// `firebreak bench match`: how long a key takes.
struct BenchMatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "match",
    abstract: "Match a made-up workload and measure it beside the machine's limit.",
    discussion: """
      Keys start evenly over 14 days and serve a whole day; sightings are distinct and even over the \
      same days; one key in 10,000 was heard (one at least). All of them must be found, and nothing \
      else: otherwise the command ends with 1. What is measured is explained in \
      Documentation/Performance.md.
      """)

  @Option(help: "How many keys are published.")
  var keys = 1_000_000

  @Option(help: "How many identifiers were heard.")
  var sightings = 20_000

  @Option(
    help: "memory (matching alone), file (unzipped, no signature) or zip (all that a phone does).")
  var from = KeySource.file

  @Option(help: "Threads that match; from 2 on the limit is measured on as many, too.")
  var threads = 1

  @Option(
    help:
      "portable, aesni-shani, vaes256, vaes512 or arm64; the fastest of this machine if left out.")
  var tier: MatchTier?

  @Option(help: "Leave key files, their public key and the sightings in this folder.")
  var keep: String?

  @Option(help: "The seed of chance; the same seed is the same workload.")
  var seed: UInt64 = 1

  @Flag(help: "Print one JSON object and nothing else.")
  var json = false

  func validate() throws {
    try BenchLimit.check(keys, BenchLimit.keys, "--keys")
    try BenchLimit.check(sightings, BenchLimit.sightings, "--sightings")
    try BenchLimit.check(threads, BenchLimit.threads, "--threads")
    let planted = MatchWorkload.plantedCount(ofKeys: keys)
    guard planted <= sightings else {
      throw ValidationError(
        "One key in \(MatchWorkload.keysPerMatch) was heard: give --sightings \(planted) or more.")
    }
  }

  func run() throws {
    let tier = try tier?.orRefusal() ?? .fastest
    BuildKind.warnUnlessRelease()
    let folder = try BenchFolder(keep: keep)
    let signals = SignalHandler.exiting(after: folder.removeUnlessKept)
    defer { withExtendedLifetime(signals, folder.removeUnlessKept) }
    let workload = MatchWorkload(keys: keys, sightings: sightings, seed: seed)
    let bench = MatchBench(
      workload: workload, source: from, threads: threads, tier: tier, folder: folder,
      isKept: keep != nil)
    let report = try bench.run()
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

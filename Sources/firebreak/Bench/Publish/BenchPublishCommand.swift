import ArgumentParser
import Foundation
import World

/// `firebreak bench publish`: how many uploads a server takes.
struct BenchPublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Upload keys as fast as a server takes them and measure what each part costs.",
    discussion: """
      A closed loop: every connection sends its next upload when the last one is answered. Each upload \
      has keys that nobody has seen, a certificate (ES256) and an HMAC over them, all made before \
      the clock starts. Without --target the command starts a key server of its own, as another process \
      with SQLite in a temporary folder. What is measured is explained in Documentation/Performance.md.
      """)

  @Option(help: "How many connections upload at once.")
  var connections = 32

  @Option(help: "How many uploads are sent.")
  var requests = 10_000

  @Option(help: "How many keys an upload has.")
  var keys = 14

  @Flag(help: "Make every second upload a decoy, and compare how both are answered.")
  var chaff = false

  @Option(help: "A PostgreSQL cluster for the server; not there yet.")
  var database: String?

  @OptionGroup(title: "A server of your own")
  var external: PublishTargetOptions

  @Flag(help: "Print one JSON object and nothing else.")
  var json = false

  func validate() throws {
    let most = external.target == nil ? BenchLimit.connections : BenchLimit.connectionsToTarget
    try BenchLimit.check(connections, most, "--connections")
    try BenchLimit.check(requests, BenchLimit.requests, "--requests")
    try BenchLimit.check(keys, BenchLimit.keysPerUpload, "--keys")
    guard database == nil else {
      throw ValidationError("--database is not there yet: leave it out to measure SQLite.")
    }
  }

  func run() async throws {
    let target = try external.publishTarget()
    BuildKind.warnUnlessRelease()
    let bench = PublishBench(
      connections: connections, requests: requests, keysPerRequest: keys, hasChaff: chaff,
      clock: SystemClock(), randomness: SystemRandomness())
    let report =
      if let target { try await bench.run(against: target) } else { try await bench.run() }
    try json ? printJSON(report) : StandardOutput.write(report.text)
    guard report.errors == 0 else {
      throw CommandFailure(
        status: .no,
        sentence: "\(report.errors) of \(requests) uploads were not answered as they should be.")
    }
    guard report.chaff?.holds != false else {
      throw CommandFailure(
        status: .no, sentence: "Decoys are answered in another way than uploads, as told above.")
    }
  }
}

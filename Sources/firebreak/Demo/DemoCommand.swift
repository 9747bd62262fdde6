import ArgumentParser
import Foundation
import Logging
import Town

/// `firebreak demo`: both walks, end to end.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Walk from a beacon to a notice, and from a PIN to a download.",
    discussion: """
      Three phones and two servers live through two days in a few seconds: real cryptography, real \
      HTTP on loopback, embedded SQLite, a simulated clock and radio. Ends with 1 if a step did not hold.
      """)

  @Flag(help: "Print one JSON object and nothing else.")
  var json = false

  @Option(help: "Where to write the HTML report.")
  var report = "out/demo.html"

  @Option(help: "Keep what phones and servers stored in this new folder, to look at.")
  var keep: String?

  @Option(help: "The seed of chance; the same seed tells the same story.")
  var seed: UInt64 = 1

  @Flag(help: "Let phones and servers log to the standard error.")
  var verbose = false

  func run() async throws {
    let file = try DemoReportFile(path: report)
    let folder = try DemoFolder(keep: keep)
    let signals = EndSignals(folder.removeUnlessKept)
    defer { withExtendedLifetime(signals, folder.removeUnlessKept) }
    let printer = DemoPrinter(isQuiet: json)
    printer.begin()
    let result = await BeaconToNotice(
      seed: seed, folder: folder.url, logger: logger, onStep: printer.tell
    ).tell()
    try file.write(try ReportPage(result).html())
    if json {
      try printJSON(DemoReport(result))
    } else {
      try printer.end(result, report: file.url, kept: keep)
    }
    guard result.ok else { throw ExitCode.failure }
  }

  private var logger: Logger {
    guard verbose else { return Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() } }
    return Logger(label: "firebreak") { StreamLogHandler.standardError(label: $0) }
  }
}

// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Logging
import Terminal
import Town
import World

/// `firebreak demo`: an exposure notification from the beacon to the notice, end to end.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Run an exposure from beacon to notice, and from PIN to download.",
    discussion: """
      Three phones and two servers run through two days in a few seconds: real cryptography, real \
      HTTP on loopback, embedded SQLite, a simulated clock and radio. Exit code 1 if a step failed.
      """)

  @Flag(help: "Print one JSON object and nothing else.")
  var json = false

  @Option(help: "The file of the HTML report.")
  var report = "out/demo.html"

  @Option(help: "Keep the data of phones and servers in this new folder.")
  var keep: String?

  @Option(help: "The seed of the random numbers; the same seed gives the same run.")
  var seed: UInt64 = 1

  @Flag(help: "Log phones and servers to stderr.")
  var verbose = false

  func run() async throws {
    try DemoFolder.requireNew(keep)
    let file = try DemoReportFile(path: report)
    let folder = try DemoFolder(keep: keep)
    let cleanUp = CleanUp(folder.removeUnlessKept)
    defer { cleanUp.run() }
    let style = TerminalStyle(
      descriptor: STDOUT_FILENO, environment: ProcessInfo.processInfo.environment)
    let printer = DemoPrinter(isQuiet: json, style: style)
    printer.begin()
    let result = await DemoRun(
      seed: seed, folder: folder.url, logger: logger, onStep: printer.printStep
    ).run()
    try file.write(ReportPage(result).html)
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

/// Prints the steps of a demo as they happen.
final class DemoPrinter {
  private let isQuiet: Bool
  private let style: TerminalStyle
  private var count = 0
  /// The first write that failed. The demo continues, and `end` throws the error.
  private var failure: CommandFailure?

  init(isQuiet: Bool, style: TerminalStyle) {
    self.isQuiet = isQuiet
    self.style = style
  }

  func begin() {
    guard !isQuiet else { return }
    write("\nFirebreak: from a beacon to a notice, from a PIN to a download\n")
  }

  func printStep(_ step: DemoStep) {
    count += 1
    guard !isQuiet else { return }
    let mark = step.ok ? style.colored("\u{2713}", 32) : style.colored("\u{2717}", 31)
    let number = count < 10 ? " \(count)" : "\(count)"
    let begin = "\(mark) \(number)  \(style.colored(step.stamp, 2))  "
    let indent = "\u{2713} \(number)  \(step.stamp)  ".count
    let lines = style.narrowed(by: indent).wrapped(step.sentence)
    write(begin + (lines.first ?? ""))
    for line in lines.dropFirst() { write(Self.space(indent) + line) }
    let facts = step.facts.flatMap { style.narrowed(by: indent + 2).wrapped($0) }
    for fact in facts { write(Self.space(indent + 2) + style.colored(fact, 2)) }
  }

  private static func space(_ count: Int) -> String { String(repeating: " ", count: count) }

  /// Prints the result.
  ///
  /// - Throws: `CommandFailure` if a write to the terminal or pipe failed.
  func end(_ result: DemoResult, report: URL, kept: String?) throws {
    let passed = result.steps.filter(\.ok).count
    let seconds = Double(result.steps.map(\.milliseconds).reduce(0, +) / 100) / 10
    write("\n" + style.colored(result.verdict, result.ok ? 32 : 31))
    write("\(passed) of \(result.steps.count) steps passed, in \(seconds) s.")
    write("The report, with a chart of the two days: \(report.path)")
    if let kept { write("The data of phones and servers: \(kept)") }
    if let failure { throw failure }
  }

  private func write(_ line: String) {
    guard failure == nil else { return }
    do throws(CommandFailure) {
      try StandardOutput.write(line)
    } catch {
      failure = error
    }
  }
}

/// The one JSON object of `demo --json`.
struct DemoReport: Encodable {
  private struct Step: Encodable {
    let name: String
    let ok: Bool
    let milliseconds: Int
  }

  private struct Phone: Encodable {
    let name: String
    let riskLevel: Int
    let notices: Int
  }

  private let ok: Bool
  private let steps: [Step]
  private let phones: [Phone]

  init(_ result: DemoResult) {
    ok = result.ok
    steps = result.steps.map { Step(name: $0.name, ok: $0.ok, milliseconds: $0.milliseconds) }
    phones = result.phones.map {
      Phone(name: $0.name, riskLevel: $0.riskLevel, notices: $0.notices)
    }
  }
}

/// The folder with the data of a demo's phones and servers.
struct DemoFolder {
  let url: URL
  private let isKept: Bool

  /// A temporary folder, or a new one at `keep`.
  init(keep: String?) throws {
    isKept = keep != nil
    url =
      keep.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent(
        "firebreak-demo-\(UUID().uuidString)")
    try Self.requireNew(keep)
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: isKept, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(
        status: isKept ? .badInput : .machineFailed,
        message:
          "The folder \(url.path) cannot be created: check its parent folder and permissions.")
    }
  }

  /// Throws if there is something at `keep`.
  static func requireNew(_ keep: String?) throws(CommandFailure) {
    guard let keep, FileManager.default.fileExists(atPath: keep) else { return }
    throw .badInput("\(keep.printable) exists: name a new folder with --keep.")
  }

  /// Removes a temporary folder. After a signal, phones and servers may still write to it.
  @Sendable func removeUnlessKept() {
    if !isKept { FileManager.default.removeFolderInUse(url) }
  }
}

/// The HTML report of a demo.
struct DemoReportFile {
  let url: URL

  /// Creates the folder of `path`. Called before the demo starts, so that an unusable path is reported at once.
  init(path: String) throws {
    url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent()
    // If it cannot be created, it cannot be written to either, which is checked below.
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard access(folder.path, W_OK | X_OK) == 0, !FileManager.default.isFolder(at: url.path),
      AtomicFile.isReplaceable(url)
    else {
      throw CommandFailure.badInput(
        "The report cannot be written to \(url.path): name another file with --report.")
    }
  }

  func write(_ html: String) throws {
    do {
      try AtomicFile.write(html.utf8, to: url, permissions: 0o644)
    } catch {
      throw CommandFailure.machineFailed(
        "The report could not be written to \(url.path): free disk space and try again.")
    }
  }
}

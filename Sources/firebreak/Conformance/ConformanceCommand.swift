import ArgumentParser

/// Runs a published suite of vectors against this implementation.
struct ConformanceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conformance",
    abstract: "Run a published suite against this implementation.",
    discussion: """
      \(ConformanceSuite.allCases.map { "\($0.rawValue): \($0.summary)" }.joined(separator: "\n"))
      Exit code 0: all passed; 1: some failed; 2: the file is not of that form.
      """)

  @Argument(help: "Which suite.")
  var suite: ConformanceSuite

  @Argument(help: "The suite's file.")
  var file: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let outcomes = try suite.outcomes(of: file)
    guard !outcomes.isEmpty else {
      throw CommandFailure.badInput("\(file.printable): holds no case of this suite.")
    }
    let report = ConformanceReport(suite: suite, outcomes: outcomes)
    try json ? printJSON(report) : StandardOutput.write(report.text)
    if report.failed > 0 { throw ExitCode(ExitStatus.no.rawValue) }
  }
}

import ArgumentParser
import Foundation
import World

/// `firebreak bench all`: the published set, as `make bench` runs it.
struct BenchAllCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "Run the published set and put each figure beside its target.",
    discussion: """
      Writes one JSON file for each bench, and report.md with date, processor, compiler and load. Takes \
      some minutes. Ends with 0 when all that this machine can run was run, whatever came out.
      """)

  @Option(help: "The folder to write to.")
  var output = "out/bench"

  @Option(help: "Run only the benches whose name begins so.")
  var only = ""

  @Option(help: "The compiler's version, for the report.")
  var compiler = "unknown"

  func run() throws {
    BuildKind.warnUnlessRelease()
    let folder = URL(fileURLWithPath: output)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure.badInput("\(output.printable) cannot be made: name another folder.")
    }
    let machine = BenchMachine(compiler: compiler)
    let results = try results(in: folder, on: machine)
    let text = BenchTable(
      date: CalendarDate(midnight: SystemClock().now).text, machine: machine,
      loadAtTheEnd: BenchMachine.load(), results: results
    ).text
    try Data(text.utf8).write(to: folder.appendingPathComponent("report.md"))
    try StandardOutput.write(text)
  }

  private func results(in folder: URL, on machine: BenchMachine) throws -> BenchResults {
    let (bar, runner) = (
      ProgressLine(what: "benches"), BenchRunner(folder: folder, executable: .thisProgram)
    )
    defer { bar.clear() }
    let cases = BenchSuite.cases.filter { $0.name.hasPrefix(only) }
    guard !cases.isEmpty else {
      throw CommandFailure.badInput("No bench is called \(only.printable): leave --only out.")
    }
    var results = BenchResults()
    results.areOfTheReferencesFamily = machine.isOfTheReferencesFamily
    for (index, bench) in cases.enumerated() {
      bar.show(index, of: cases.count)
      results[bench.name] = try runner.run(bench)
    }
    return results
  }
}

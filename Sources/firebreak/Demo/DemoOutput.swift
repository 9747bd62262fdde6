import Foundation
import Terminal
import Town

/// Prints the steps of a demo as they happen.
final class DemoPrinter {
  private let isQuiet: Bool
  private let hasColour = isatty(STDOUT_FILENO) == 1
  private var count = 0
  /// The first write that failed. The demo continues, and `end` throws the error.
  private var failure: CommandFailure?

  init(isQuiet: Bool) {
    self.isQuiet = isQuiet
  }

  func begin() {
    guard !isQuiet else { return }
    write("\nFirebreak: from a beacon to a notice, from a PIN to a download\n")
  }

  func printStep(_ step: DemoStep) {
    count += 1
    guard !isQuiet else { return }
    let mark = step.ok ? coloured("\u{2713}", 32) : coloured("\u{2717}", 31)
    let number = count < 10 ? " \(count)" : "\(count)"
    write("\(mark) \(number)  \(coloured(step.stamp, 2))  \(step.sentence)")
    for fact in step.facts { write("                     \(coloured(fact, 2))") }
  }

  /// Prints the result.
  ///
  /// - Throws: `CommandFailure` if a write to the terminal or pipe failed.
  func end(_ result: DemoResult, report: URL, kept: String?) throws {
    let passed = result.steps.filter(\.ok).count
    let seconds = Double(result.steps.map(\.milliseconds).reduce(0, +) / 100) / 10
    write("\n\(result.ok ? coloured(result.verdict, 32) : coloured(result.verdict, 31))")
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

  private func coloured(_ text: String, _ code: Int) -> String {
    hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
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

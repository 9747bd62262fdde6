import Foundation
import Town

/// Tells the story on the terminal as it happens.
final class DemoPrinter {
  private let isQuiet: Bool
  private let hasColour = isatty(STDOUT_FILENO) == 1
  private var count = 0
  /// Why nothing more can be told; the story goes on all the same, and its end says so.
  private var failure: CommandFailure?

  init(isQuiet: Bool) {
    self.isQuiet = isQuiet
  }

  func begin() {
    guard !isQuiet else { return }
    say("\nFirebreak: from a beacon to a notice, from a PIN to a download\n")
  }

  func tell(_ step: StoryStep) {
    count += 1
    guard !isQuiet else { return }
    let mark = step.ok ? coloured("\u{2713}", 32) : coloured("\u{2717}", 31)
    let number = count < 10 ? " \(count)" : "\(count)"
    say("\(mark) \(number)  \(coloured(step.stamp, 2))  \(step.sentence)")
    for fact in step.facts { say("                     \(coloured(fact, 2))") }
  }

  /// Tells how it ended.
  ///
  /// - Throws: a `CommandFailure` where the terminal or pipe has not taken all of the story.
  func end(_ result: StoryResult, report: URL, kept: String?) throws {
    let held = result.steps.filter(\.ok).count
    let seconds = Double(result.steps.map(\.milliseconds).reduce(0, +) / 100) / 10
    say("\n\(result.ok ? coloured(result.verdict, 32) : coloured(result.verdict, 31))")
    say("\(held) of \(result.steps.count) steps held, in \(seconds) s.")
    say("The report, with the two days as a picture: \(report.path)")
    if let kept { say("What phones and servers stored: \(kept)") }
    if let failure { throw failure }
  }

  private func say(_ line: String) {
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

// SPDX-License-Identifier: Apache-2.0
import Terminal
import TestSupport
import Testing

@Suite("Colors, progress bars and the width of a terminal")
struct TerminalStyleTests {
  private func style(_ environment: [String: String], width: Int? = 100) -> TerminalStyle {
    TerminalStyle(
      environment: ["TERM": "xterm"].merging(environment) { $1 }, reportedWidth: width)
  }

  @Test("NO_COLOR turns colors off unless it is empty, TERM=dumb colors and progress bars")
  func environment() {
    #expect(style([:]).hasColor && style([:]).overwritesLines)
    #expect(style(["NO_COLOR": ""]).hasColor)
    #expect(!style(["NO_COLOR": "1"]).hasColor && style(["NO_COLOR": "1"]).overwritesLines)
    #expect(!style(["NO_COLOR": "0"]).hasColor)
    #expect(!style(["TERM": "dumb"]).hasColor && !style(["TERM": "dumb"]).overwritesLines)
    #expect(!style(["TERM": ""]).overwritesLines)
    #expect(style([:]).colored("x", 32) == "\u{1B}[32mx\u{1B}[0m")
    #expect(style(["NO_COLOR": "1"]).colored("x", 32) == "x")
  }

  @Test("COLUMNS replaces the width of the terminal; a pipe has none")
  func width() {
    #expect(style([:]).width == 100 && style([:], width: nil).width == nil)
    #expect(style(["COLUMNS": "60"]).width == 60)
    for invalid in ["0", "-5", "x", ""] { #expect(style(["COLUMNS": invalid]).width == 100) }
    #expect(style(["COLUMNS": "1"]).width == 20)
    #expect(TerminalStyle(descriptor: -1, environment: ["COLUMNS": "60"]) == .plain)
  }

  @Test("Text is wrapped between words; a longer word stays whole")
  func wrapped() {
    let narrow = style([:], width: 20)
    #expect(narrow.wrapped("one two three four five") == ["one two three four", "five"])
    #expect(narrow.wrapped("short") == ["short"])
    let long = String(repeating: "x", count: 30)
    #expect(narrow.wrapped("a \(long) b") == ["a", long, "b"])
    #expect(TerminalStyle.plain.wrapped("one two three four five").count == 1)
    #expect(style([:], width: 60).narrowed(by: 20).width == 40)
  }

  @Test("A progress bar fits into one line of the terminal at every width", arguments: 20...120)
  func progress(width: Int) {
    let bar = ProgressLine("keys written", style: style([:], width: width))
    for (done, all) in [(0, 0), (0, 10), (5, 10), (10, 10), (1_000_000, 750_000)] {
      let text = bar.text(done, of: all)
      #expect(text.count < width && text.contains("\(done)"))
    }
    #expect(ProgressLine("x", style: .plain).text(15, of: 30).contains("###############."))
  }
}

// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Terminal

@Suite("The width of help")
struct HelpTextTests {
  private func help(_ columns: String? = nil, width: Int? = nil) -> HelpText {
    HelpText(environment: columns.map { ["COLUMNS": $0] } ?? [:], reportedWidth: width)
  }

  @Test("It is that of COLUMNS, of the terminal or of a file, and at least 40")
  func width() {
    #expect(help().width == 80 && help(width: 120).width == 120)
    #expect(help("60", width: 120).width == 60 && help("200").width == 200)
    for invalid in ["0", "-5", "x", "", "99999999999999999999"] {
      #expect(help(invalid).width == 80 && help(invalid, width: 100).width == 100)
    }
    for narrow in ["1", "26", "39", "40"] { #expect(help(narrow).width == 40) }
    #expect(help(width: 1).width == 40 && help(width: 41).width == 41)
  }

  @Test("A longer line is wrapped between words with its indentation, and other lines stay")
  func wrapped() {
    let line = "  See 'firebreak help <subcommand>' for detailed help."
    #expect(
      help("40").wrapped("OVERVIEW: a\n\n\(line)\n")
        == "OVERVIEW: a\n\n  See 'firebreak help <subcommand>' for\n  detailed help.\n")
    #expect(help("80").wrapped("OVERVIEW: a\n\(line)") == "OVERVIEW: a\n\(line)")
    let word = String(repeating: "x", count: 50)
    #expect(help("40").wrapped("OVERVIEW: a\n  \(word) b") == "OVERVIEW: a\n  \(word)\n  b")
  }

  @Test("Text that is not help is not wrapped")
  func script() {
    let script = String(repeating: "if true; ", count: 20)
    #expect(help("40").wrapped(script) == script)
  }
}

// SPDX-License-Identifier: Apache-2.0
import ServedSystem
import Terminal
import TestSupport
import Testing

@Suite("The product's version")
struct ProductVersionTests {
  @Test("--version prints the version, the commit and the compiler of the build", .needs(.process))
  func printed() async throws {
    let run = try await Run("--version")
    #expect(run.status == 0)
    let line =
      #/firebreak \d+\.\d+\.\d+( \([0-9a-f]{8,}(, with changes)?\))?, Swift 6\.\d+(\.\d+)?\n/#
    #expect(run.output.wholeMatch(of: line) != nil, "\(run.output)")
  }

  @Test("The commit is in parentheses, and left out if it is not known")
  func line() {
    #expect(VersionLine(number: "1.2.3", commit: "").text == "firebreak 1.2.3")
    let known = VersionLine(number: "1.2.3", commit: "e996a2f8")
    #expect(known.text == "firebreak 1.2.3 (e996a2f8)")
    let line = VersionLine(number: "1.2.3", commit: "e996a2f8", compiler: "Swift 6.3.1")
    #expect(line.text == "firebreak 1.2.3 (e996a2f8), Swift 6.3.1")
  }
}

// SPDX-License-Identifier: Apache-2.0
import ServedSystem
import TestSupport
import Testing

@testable import firebreak

@Suite("The product's version")
struct ProductVersionTests {
  @Test("--version prints the version, the commit and the compiler of the build", .needs(.process))
  func printed() async throws {
    let run = try await Run("--version")
    #expect(run.status == 0)
    #expect(run.output == ProductVersion.line + "\n")
    let commit = #/[0-9a-f]{8,}(, with changes)?/#
    #expect(BuildCommit.compiler.wholeMatch(of: #/Swift 6\.\d+(\.\d+)?/#) != nil)
    #expect(run.output.hasSuffix(", \(BuildCommit.compiler)\n"))
    #expect(BuildCommit.name.isEmpty || BuildCommit.name.wholeMatch(of: commit) != nil)
  }

  @Test("The commit is in parentheses, and left out if it is not known")
  func line() {
    #expect(ProductVersion.line(commit: "").wholeMatch(of: #/firebreak \d+\.\d+\.\d+/#) != nil)
    #expect(ProductVersion.line(commit: "e996a2f8").hasSuffix(" (e996a2f8)"))
    let line = ProductVersion.line(commit: "e996a2f8", compiler: "Swift 6.3.1")
    #expect(line.hasSuffix(" (e996a2f8), Swift 6.3.1"))
  }
}

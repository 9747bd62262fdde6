// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Needs of tests")
struct NeedRuleTests {
  private func violations(_ texts: String...) -> [Violation] {
    NeedRule.violations(
      in: texts.enumerated().map { index, text in
        SourceFile(path: "Tests/SomeTests/File\(index).swift", text: text)
      })
  }

  @Test("Every test that needs another process, a browser, controllers or a disk declares it")
  func project() {
    let targets = Dictionary(grouping: Project.tests) { file in
      file.path.split(separator: "/")[1]
    }.filter { $0.key.hasSuffix("Tests") }
    #expect(targets.count > 30)
    for violation in targets.values.flatMap(NeedRule.violations) {
      Issue.record(Comment(rawValue: violation.description))
    }
  }

  @Test(
    "An undeclared need is found, with the line of its first use",
    arguments: [
      "ChildProcess.run(a)", "try await BackgroundProcess(a)", "VirtualControllers.allCases",
      "ServedFirebreak(folder: a)", "ServedAuthority()", "PhoneFixture(a)", "SmallDisk(bytes: 1)",
      "Browser.withRunning { a }", "Run(\"serve\")", "Shell.run(a)",
    ])
  func undeclared(_ use: String) {
    #expect(violations("@Test(\"a\")\nfunc a() {\n  \(use)\n}").map(\.line) == [3])
    #expect(violations("@Test(\"a\", .needs(.process))\nfunc a() { \(use) }").isEmpty)
    #expect(violations("@Test func a() {}\n// \(use)").isEmpty)
    // A file without tests is support.
    #expect(violations("struct Scene { func a() { \(use) } }").isEmpty)
  }

  @Test("A test that uses a type of its target which needs a process has the need, too")
  func indirect() {
    let scene = "struct Scene {\n  func play() { ChildProcess.run(a) }\n}"
    #expect(violations(scene, "@Test func a() { Scene().play() }").count == 1)
    #expect(violations(scene, "@Test(.needs(.process)) func a() { Scene().play() }").isEmpty)
    #expect(violations(scene, "@Test func a() { Scenery().play() }").isEmpty)
  }

  @Test("The need of a suite is that of the tests in its extensions")
  func suites() {
    let suite = "@Suite(.serialized, .needs(.browser))\nenum All {}"
    let test = "extension All { @Suite struct Part { @Test func a() { Browser.withRunning {} } } }"
    #expect(violations(suite, test).isEmpty)
    #expect(violations("@Suite(.serialized) enum All {}", test).count == 1)
  }
}

import Testing

/// `scripts/run-tests` with a `swift` that says what a test run says.
@Suite struct RunTestsTests {
  private let machine: BareMachine

  init() throws {
    machine = try BareMachine(for: "run-tests")
  }

  @Test("A test that fails among many is told again at the end, with what it expected")
  func failure() throws {
    try machine.add(
      "swift",
      """
      echo '✔ Test "a" passed after 1 seconds.'
      echo '✘ Test "b" recorded an issue at B.swift:1:2: Expectation failed: x == 1'
      echo '↳ x is the number of keys'
      for number in {1..40}; do echo "✔ Test \"c$number\" passed after 1 seconds."; done
      exit 1
      """)
    let ending = try machine.run()
    #expect(ending.status == 1)
    #expect(
      ending.lines.suffix(3) == [
        "What failed:",
        "✘ Test \"b\" recorded an issue at B.swift:1:2: Expectation failed: x == 1",
        "↳ x is the number of keys",
      ])
  }

  @Test("A run that ends without a word says so, and keeps its status")
  func silent() throws {
    try machine.add("swift", "exit 134")
    let ending = try machine.run()
    #expect(ending.status == 134)
    #expect(ending.lines.first == "What failed:" && ending.lines.count == 2)
  }

  @Test("Where all pass nothing is added, and what is asked for besides reaches swift")
  func success() throws {
    try machine.add("swift", "echo \"$@\"")
    let ending = try machine.run("--filter", "KeyFileTests")
    #expect(ending.status == 0)
    #expect(ending.lines == ["test --skip-build --parallel --filter KeyFileTests"])
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The script with a test binary that does as it is told. It has the targets Alpha, with the tests a and b, and Beta.
@Suite("scripts/run-tests", .needs(.process))
struct RunTestsTests {
  private let machine: ScriptSandbox

  init() throws {
    machine = try ScriptSandbox(for: "run-tests")
    for target in ["AlphaTests", "BetaTests"] { try machine.addFolder("Tests/\(target)") }
    try addBinary("all")
  }

  /// Adds the test binary. `script` runs for each chunk; `all` passes the tests that the arguments select.
  private func addBinary(
    _ script: String, tests: [String] = ["AlphaTests.S/a()", "AlphaTests.S/b()", "BetaTests.S/c()"]
  ) throws {
    try machine.add(
      "../project/.build/debug/firebreakPackageTests.xctest",
      #"""
      skip='^$'
      while [ $# -gt 0 ]; do
        case $1 in
          --list-tests) list=1 ;;
          --filter) filter=$2 ;;
          --skip) skip=$2 ;;
          --event-stream-output-path) events=$2 ;;
        esac
        shift
      done
      tests() { printf '%s\n' \#(tests.map { "'\($0)'" }.joined(separator: " ")); }
      [ -z "${list:-}" ] || { tests && exit; }
      event() {
        echo '{"kind":"event","payload":{"kind":"'$1'","messages":[{"symbol":"'$2'","text":"'"$4"'"}],' \
          '"testID":"'"${3//\//\\/}"'\/A.swift:1:2"},"version":0}' >>"$events"
      }
      begin() { event testStarted default "$1" "Test \\\"$1\\\" started."; }
      pass() { begin "$1" && event testEnded pass "$1" "Test \\\"$1\\\" passed after 1 seconds."; }
      fail() {
        begin "$1" && echo "✘ Test \"$1\" recorded an issue at B.swift:1:2: Expectation failed: x == 1" &&
          echo "↳ x is the number of keys" && event testEnded fail "$1" "Test \\\"$1\\\" failed."
      }
      skip() {
        event testSkipped skip "$1" "Test \\\"$1\\\" skipped: \\\"$2\\\"" && echo "➜ Test \"$1\" skipped: \"$2\""
      }
      all() { for test in $(tests | grep "$filter" | grep -v "$skip"); do pass "$test"; done; }
      \#(script)
      """#)
  }

  @Test("Each target has a process of its own and a line, and the last line counts the tests")
  func success() async throws {
    try addBinary("all; echo \"$filter $SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH\"")
    let result = try await machine.run()
    #expect(result.status == 0)
    #expect(result.lines.filter { $0.hasPrefix("✔ AlphaTests: 2 passed in ") }.count == 1)
    #expect(result.lines.filter { $0.hasPrefix("✔ BetaTests: 1 passed in ") }.count == 1)
    #expect(result.lines.suffix(2) == ["Log: .build/tests.log", "Tests: 3 passed, 0 failed"])
    #expect(result.lines.contains { $0.hasPrefix("Slowest: ") && $0.contains("BetaTests ") })
    let log = try machine.text("project/.build/tests.log").split(separator: "\n")
    #expect(log.contains(#"^AlphaTests\. 8"#) && log.contains(#"^BetaTests\. 8"#))
  }

  @Test("A suite that is listed as slow has a process of its own")
  func apart() async throws {
    try machine.addFolder("Tests/HealthAuthorityConsoleTests")
    let target = "HealthAuthorityConsoleTests"
    try addBinary(
      #"all; [[ $filter != *Health* ]] || echo "$filter $skip""#,
      tests: [
        "AlphaTests.S/a()", "BetaTests.S/c()", "\(target).ConsoleInBrowser/T/a()",
        "\(target).T/a()",
      ])
    let result = try await machine.run()
    #expect(result.status == 0 && result.lines.last == "Tests: 4 passed, 0 failed")
    let log = try machine.text("project/.build/tests.log").split(separator: "\n")
    #expect(log.contains(#"^\#(target)\.ConsoleInBrowser/ ^$"#))
    #expect(log.contains(#"^\#(target)\. ^\#(target)\.ConsoleInBrowser/"#))
  }

  @Test("A target without a browser has a lower priority than one with a browser")
  func priorities() async throws {
    try machine.addFolder("Tests/WebAppTests")
    try addBinary(
      #"all; echo "$filter $(nice)""#,
      tests: ["AlphaTests.S/a()", "BetaTests.S/c()", "WebAppTests.T/a()"])
    let result = try await machine.run()
    #expect(result.status == 0 && result.lines.last == "Tests: 3 passed, 0 failed")
    let log = try machine.text("project/.build/tests.log").split(separator: "\n")
    func niceness(_ target: String) throws -> Int {
      let line = try #require(log.first { $0.hasPrefix(#"^\#(target)\. "#) })
      return try #require(line.split(separator: " ").last.flatMap { Int($0) })
    }
    let highest = try niceness("WebAppTests")
    // 19 is the lowest priority.
    for target in ["AlphaTests", "BetaTests"] {
      #expect(try niceness(target) == min(highest + 5, 19))
    }
  }

  @Test("A line that wakes the script and arrives in parts does not lose the end of a target")
  func wakingLine() async throws {
    try addBinary("all; printf Alpha >\"${events%/*}/wake\"")
    let result = try await machine.run()
    #expect(result.status == 0 && result.lines.last == "Tests: 3 passed, 0 failed")
  }

  @Test("The names of targets and a filter select tests, and an unknown target is a wrong usage")
  func selection() async throws {
    let target = try await machine.run("BetaTests")
    #expect(target.status == 0 && target.lines.last == "Tests: 1 passed, 0 failed")
    let filter = try await machine.run("--filter", "S/[ac]")
    #expect(filter.status == 0 && filter.lines.last == "Tests: 2 passed, 0 failed")
    let nothing = try await machine.run("--filter", "S/x")
    #expect(nothing.status == 1 && nothing.lines.last == "Tests: 0 passed, 1 failed")
    #expect(nothing.lines.first?.contains("no test matches S/x") == true)
    let unknown = try await machine.run("GammaTests")
    #expect(unknown.status == 2 && unknown.lines.count == 1)
    #expect(unknown.lines.first?.contains("unknown test target GammaTests") == true)
    try machine.addFolder("Tests/Support")
    for name in ["", "Support", "AlphaTests/", "."] {
      let result = try await machine.run("BetaTests", name)
      #expect(result.status == 2 && result.lines.count == 1, "\(name)")
    }
  }

  @Test("A failure is printed while its target still runs, and again at the end")
  func failure() async throws {
    try addBinary(
      #"""
      [[ $filter = *Alpha* ]] || { all && exit; }
      fail 'AlphaTests.S/a()'
      until [ -e go ]; do sleep 0.05; done
      pass 'AlphaTests.S/b()'
      exit 1
      """#)
    let message =
      #"Test "AlphaTests.S/a()" recorded an issue at B.swift:1:2: Expectation failed: x == 1"#
    let explanation = "↳ x is the number of keys"
    let (status, lines) = try await machine.withRunning { process in
      try await Patience.until { try process.output.contains("number of keys") }
      #expect(try process.output.contains("✘ AlphaTests: \(message)\n  \(explanation)\n"))
      #expect(try !process.output.contains("failed, "))
      try machine.addFolder("go")
      return (try await process.wait(), try process.output.split(separator: "\n"))
    }
    #expect(status == 1)
    #expect(lines.contains { $0.hasPrefix("✘ AlphaTests: 1 failed, 1 passed in ") })
    let end = try #require(lines.firstIndex(of: "What failed:"))
    #expect(
      lines[end...].prefix(4).dropFirst() == ["AlphaTests:", "✘ \(message)", "\(explanation)"])
    #expect(lines.last == "Tests: 2 passed, 1 failed")
  }

  @Test(
    "A process that ends without a message is reported with its status, and its tests as not run")
  func silent() async throws {
    try addBinary("[[ $filter = *Alpha* ]] || { all && exit; }; exit 134")
    let result = try await machine.run()
    #expect(result.status == 1)
    #expect(result.lines.contains("✘ AlphaTests: tests that did not run: 2"))
    #expect(result.lines.contains("    AlphaTests.S/b()"))
    #expect(result.lines.last == "Tests: 1 passed, 2 failed")
    // After the last test.
    try addBinary("all; [[ $filter = *Alpha* ]] || exit 134")
    let late = try await machine.run()
    #expect(late.status == 1 && late.lines.last == "Tests: 3 passed, 1 failed")
    #expect(late.lines.contains { $0.hasPrefix("✘ BetaTests: the process ended with status 134") })
  }

  @Test("A test that does not run or runs twice fails the run, and so does a target without tests")
  func exactlyOnce() async throws {
    try addBinary("[[ $filter = *Alpha* ]] || pass 'BetaTests.S/c()'; pass 'AlphaTests.S/b()'")
    let result = try await machine.run()
    #expect(result.status == 1)
    #expect(result.lines.contains("✘ AlphaTests: tests that did not run: 1"))
    #expect(result.lines.contains("    AlphaTests.S/a()"))
    #expect(result.lines.contains("✘ BetaTests: tests that ran more than once: 1"))
    try addBinary("all")
    try machine.addFolder("Tests/GammaTests")
    let forgotten = try await machine.run()
    #expect(forgotten.status == 1)
    #expect(
      forgotten.lines.contains { $0.hasPrefix("✘ GammaTests: the binary has no tests of this") })
  }

  @Test("A target that makes no progress is ended, with the tests that started and did not end")
  func stall() async throws {
    try addBinary(
      "[[ $filter = *Alpha* ]] || { all && exit; }; pass 'AlphaTests.S/a()'; begin 'AlphaTests.S/b()'; exec sleep 1000"
    )
    let result = try await machine.run("--stall", "1")
    #expect(result.status == 1)
    #expect(
      result.lines.contains { $0.hasPrefix("✘ AlphaTests: no test started or ended for 1 s") })
    let names = try #require(
      result.lines.firstIndex(of: "✘ AlphaTests: tests that started and did not end: 1"))
    #expect(result.lines[names + 1] == #"    Test "AlphaTests.S/b()""#)
    #expect(result.lines.last == "Tests: 2 passed, 1 failed")
  }

  @Test("A test that a filter selects and that does not end fails the run")
  func unfinishedOfFilter() async throws {
    try addBinary("begin 'AlphaTests.S/a()'; pass 'AlphaTests.S/b()'")
    let result = try await machine.run("--filter", "S/[ab]")
    #expect(result.status == 1 && result.lines.last == "Tests: 1 passed, 1 failed")
    #expect(result.lines.contains("✘ selected: tests that started and did not end: 1"))
    #expect(result.lines.contains { $0.contains("AlphaTests.S/a()") })
  }

  @Test("A target whose status is lost fails the run and does not stop it")
  func lostStatus() async throws {
    try addBinary("[[ $filter = *Beta* ]] && all && exit; kill -KILL $PPID")
    let result = try await machine.run()
    #expect(result.status == 1)
    #expect(
      result.lines.contains { $0.hasPrefix("✘ AlphaTests: the status of its process is missing") })
    #expect(result.lines.contains { $0.hasPrefix("✔ BetaTests: 1 passed in ") })
  }

  @Test("A run without a list of tests is refused")
  func noList() async throws {
    try addBinary("all", tests: [])
    try machine.add("sort", "exit 0")
    let result = try await machine.run()
    #expect(result.status == 3 && result.lines.count == 1)
    #expect(result.lines.first?.contains("the list of tests is empty") == true)
  }

  @Test("After a crash the tests and source lines of the crashed thread are listed")
  func crash() async throws {
    try addBinary(
      """
      [[ $filter = *Alpha* ]] || { all && exit; }
      begin 'AlphaTests.S/a()'
      pass 'AlphaTests.S/b()'
      echo '*** Program crashed: Bad pointer dereference at 0x0 ***'
      echo 'Thread 14 "worker" crashed:'
      echo '0 0x01 __memcpy in libc.so.6'
      echo '1 0x02 UploadTests.replayed() in tests.xctest at /somewhere/Tests/KeyServerTests/UploadTests.swift:44:36'
      exit 1
      """)
    let result = try await machine.run()
    #expect(result.status == 1)
    let place = try #require(result.lines.firstIndex(of: "Crashed in:"))
    #expect(result.lines[place + 1] == "Tests/KeyServerTests/UploadTests.swift:44")
    #expect(result.lines.contains(#"    Test "AlphaTests.S/a()""#))
    #expect(result.lines.last == "Tests: 2 passed, 1 failed")
  }

  @Test("A check sets the variable that leaves tests out, and counts them without printing each")
  func check() async throws {
    try addBinary(
      #"""
      [ "${FIREBREAK_CHECK:-}" = 1 ] || { all && exit; }
      [[ $filter = *Alpha* ]] || { skip 'BetaTests.S/c()' 'needs a network' && exit; }
      skip 'AlphaTests.S/a()' 'left to make test: needs a browser'
      pass 'AlphaTests.S/b()'
      """#)
    let result = try await machine.run("--check")
    #expect(result.status == 0)
    #expect(result.lines.contains("1 left to `make test`"))
    #expect(!result.lines.contains { $0.contains("browser") })
    let reasons = try #require(result.lines.firstIndex(of: "1 skipped, for these reasons:"))
    #expect(result.lines[reasons + 1] == "  needs a network")
    #expect(result.lines.last == "Tests: 1 passed, 0 failed")
    #expect(try await machine.run().lines.last == "Tests: 3 passed, 0 failed")
  }

  @Test("A process that outlives the run is ended and fails the run")
  func leftovers() async throws {
    try addBinary("all\nsleep 1000 >/dev/null 2>&1 &")
    let result = try await machine.run("BetaTests")
    #expect(result.status == 1)
    #expect(result.lines.contains("Processes that outlived their test (now ended):"))
    let id = try #require(
      result.lines.first { $0.hasSuffix("sleep 1000 ") }?.split(separator: " ").first
        .flatMap { Int32($0) })
    try await expectEnded(id)
  }

  @Test("An interrupted run ends its processes", arguments: [SIGINT, SIGTERM])
  func interruption(_ signal: Int32) async throws {
    try addBinary(
      "sleep 1000 >/dev/null 2>&1 &\necho $! >started.new; mv started.new started; wait")
    try machine.add("mv", "exec /bin/mv \"$@\"")
    let id = try await machine.withRunning(["BetaTests"]) { script in
      try await Patience.until { (try? machine.text("project/started")) != nil }
      script.send(signal)
      let status = try await script.wait()
      #expect(status == 130)
      return try #require(
        Int32(try machine.text("project/started").trimmingCharacters(in: .whitespacesAndNewlines)))
    }
    try await expectEnded(id)
  }

  @Test("Every target and suite that the script names exists")
  func names() throws {
    let script = try #require(Project.text("scripts/run-tests"))
    for list in ["slow", "with_browser"] {
      let content = try #require(
        script.firstMatch(
          of: try Regex("(?m)^\(list)=\\(([^)]*)\\)", as: (Substring, Substring).self)))
      let names = content.1.split(whereSeparator: \.isWhitespace)
      #expect(!names.isEmpty)
      for name in names {
        let parts = name.split(separator: ".")
        let files = Project.tests.filter { $0.path.hasPrefix("Tests/\(parts[0])/") }
        #expect(!files.isEmpty, "\(name) is no test target")
        guard let suite = parts.dropFirst().first else { continue }
        let hasSuite = files.contains { !$0.matches("\\b(struct|enum) \(suite)\\b").isEmpty }
        #expect(hasSuite, "\(name) is no suite")
      }
    }
  }

  @Test("Every suite that the Makefile selects exists")
  func selectedSuites() throws {
    let makefile = try #require(Project.text("Makefile"))
    let filters = makefile.matches(
      of: try Regex(#"--filter "([^"]*)""#, as: (Substring, Substring).self))
    let suites = filters.flatMap { $0.1.split { !$0.isLetter } }.filter { $0.hasSuffix("Tests") }
    #expect(suites.count >= filters.count && !filters.isEmpty)
    for suite in suites { expectSuite(suite) }
  }

  private func expectSuite(_ name: Substring) {
    let exists = Project.tests.contains { !$0.matches("\\b(struct|enum) \(name)\\b").isEmpty }
    #expect(exists, "\(name) is no suite")
  }

  @Test("Every page runs tests with the script, and the suites that it selects exist")
  func pages() throws {
    let filter = try Regex(
      "scripts/run-tests --filter '?([\\w./|]+)", as: (Substring, Substring).self)
    var suites: Set<Substring> = []
    for page in Project.pages {
      let text = try #require(Project.text(page))
      #expect(!text.contains("swift test "), "\(page): XCTMain refuses it")
      for part in text.matches(of: filter).flatMap({ $0.1.split(separator: "|") }) {
        // TARGET.SUITE/TEST, or SUITE.
        let suite = part.prefix { $0 != "/" }.split(separator: ".").last
        suites.insert(try #require(suite))
      }
    }
    #expect(suites.count > 10)
    for suite in suites { expectSuite(suite) }
  }

  @Test("The test program runs nothing if it is started for XCTest, and says what to run")
  func startedForXCTest() async throws {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    for arguments in [["--dump-tests-json"], ["--testing-library", "xctest"]] {
      // With this filter a program that does not refuse runs no test either.
      let result = try await ChildProcess.run(program, arguments + ["--filter", "^none$"])
      #expect(result.status == 1 && result.output.isEmpty, "\(result)")
      #expect(result.errors.contains("then `scripts/run-tests --filter"), "\(result.errors)")
    }
  }

  @Test("The build writes no index, which only a test program made by SwiftPM would read")
  func index() throws {
    let makefile = try #require(Project.text("Makefile"))
    let flags = makefile.split(separator: "BUILD_FLAGS := ").last?.split(separator: "\n\n").first
    #expect(flags?.contains(" --disable-index-store ") == true)
    #expect(Project.tests.contains { $0.path == "Tests/XCTMain.swift" })
  }

  /// The signal is sent; the process disappears as soon as its parent has reaped it.
  private func expectEnded(_ id: Int32) async throws {
    try await Patience.until { isEnded(id) }
    #expect(isEnded(id))
  }

  private func isEnded(_ id: Int32) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
    return status.map { $0.contains(") Z ") } ?? true
  }
}

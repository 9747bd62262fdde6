// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("scripts/run-tests")
struct RunTestsTests {
  private let machine: ScriptSandbox

  init() throws {
    machine = try ScriptSandbox(for: "run-tests")
  }

  @Test("A failed test is repeated at the end with its explanation")
  func failure() async throws {
    try machine.add(
      "swift",
      """
      echo '✔ Test "a" passed after 1 seconds.'
      echo '✘ Test "b" recorded an issue at B.swift:1:2: Expectation failed: x == 1'
      echo '↳ x is the number of keys'
      for number in {1..40}; do echo "✔ Test \"c$number\" passed after 1 seconds."; done
      exit 1
      """)
    let result = try await machine.run()
    #expect(result.status == 1)
    #expect(
      result.lines.suffix(3) == [
        "What failed:",
        "✘ Test \"b\" recorded an issue at B.swift:1:2: Expectation failed: x == 1",
        "↳ x is the number of keys",
      ])
  }

  @Test("A run that ends without a message is reported as such and keeps its status")
  func silent() async throws {
    try machine.add("swift", "exit 134")
    let result = try await machine.run()
    #expect(result.status == 134)
    #expect(result.lines.first == "What failed:" && result.lines.count == 2)
  }

  @Test("A successful run adds no output, and arguments are passed to swift")
  func success() async throws {
    try machine.add("swift", "echo \"$@\"")
    let result = try await machine.run("--filter", "KeyFileTests")
    #expect(result.status == 0)
    #expect(result.lines == ["test --skip-build --parallel --filter KeyFileTests"])
  }

  @Test("Tests that run apart have a process of their own, and both must pass", arguments: [0, 3])
  func apart(status: Int) async throws {
    try machine.add("swift", "echo \"$@\"")
    try machine.add(
      "../project/.build/debug/firebreakPackageTests.xctest", "echo \"$@\"; exit \(status)")
    let result = try await machine.run("--apart", "WebAppTests", "--quiet")
    #expect(result.status == Int32(status))
    #expect(
      result.lines.prefix(2).sorted() == [
        "--testing-library swift-testing --filter WebAppTests",
        "test --skip-build --parallel --skip WebAppTests --quiet",
      ])
  }

  @Test("After a crash the tests and source lines of the crashed thread are listed")
  func crash() async throws {
    try machine.add(
      "swift",
      """
      echo '◇ Test "a" started.'
      echo '◇ Test "b" started.'
      echo '✔ Test "b" passed after 1 seconds.'
      echo '*** Program crashed: Bad pointer dereference at 0x0 ***'
      echo 'Thread 14 "worker" crashed:'
      echo '0 0x01 __memcpy in libc.so.6'
      echo '1 0x02 UploadTests.replayed() in tests.xctest at /somewhere/Tests/KeyServerTests/UploadTests.swift:44:36'
      exit 1
      """)
    let result = try await machine.run()
    #expect(result.status == 1)
    #expect(
      result.lines.suffix(4) == [
        "Crashed in:", "Tests/KeyServerTests/UploadTests.swift:44",
        "Tests that had started and not ended:", #""a""#,
      ])
  }

  @Test("A process that outlives the run is ended and fails the run")
  func leftovers() async throws {
    try machine.add("swift", "sleep 1000 >/dev/null 2>&1 &\necho started; exit 0")
    let result = try await machine.run()
    #expect(result.status == 1)
    #expect(result.lines.contains("Processes that outlived their test (now ended):"))
    let id = try #require(
      result.lines.first { $0.hasSuffix("sleep 1000 ") }?.split(separator: " ").first
        .flatMap { Int32($0) })
    try await expectEnded(id)
  }

  @Test("An interrupted run ends its processes", arguments: [SIGINT, SIGTERM])
  func interruption(_ signal: Int32) async throws {
    try machine.add("swift", "sleep 1000 >/dev/null 2>&1 &\necho $!\nwait")
    let ids = try await machine.withRunning { script in
      let line = try await script.firstLine()
      script.send(signal)
      let status = try await script.wait()
      #expect(status == 130)
      return try #require(Int32(line ?? ""))
    }
    try await expectEnded(ids)
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

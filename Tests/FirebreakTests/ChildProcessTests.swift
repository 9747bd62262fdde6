// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("Processes of a test", .needs(.process))
struct ChildProcessTests {
  private struct Failure: Error {}

  private static let shell = URL(fileURLWithPath: "/bin/sh")
  /// A shell that ignores SIGTERM and has a child of its own; its first line is the child's identifier.
  private static let parent = ["-c", "trap '' TERM; sleep 1000 & echo $!; wait"]

  private func isAlive(_ process: Int32) -> Bool { kill(process, 0) == 0 }

  private func expectEnded(_ processes: [Int32]) async throws {
    // A killed child of the killed shell is reaped by the system a moment later.
    try await Patience.until { !processes.contains(where: isAlive) }
    for process in processes { #expect(!isAlive(process)) }
  }

  private func run(_ script: String) async throws -> ChildProcess.Result {
    try await ChildProcess.run(Self.shell, ["-c", script])
  }

  @Test("A run reports the output, the errors and the exit status")
  func result() async throws {
    let result = try await run("echo out; echo err >&2; exit 7")
    #expect((result.status, result.output, result.errors) == (7, "out\n", "err\n"))
    let killed = try await run("kill -9 $$")
    #expect(killed.status == -SIGKILL)
    let combined = try await ChildProcess.run(
      Self.shell, ["-c", "echo a; echo b >&2; echo c"], combinesOutput: true)
    #expect(combined.output == "a\nb\nc\n")
    let missing = try await ChildProcess.run(URL(fileURLWithPath: "/does/not/exist"))
    #expect(missing.status == 127)
  }

  @Test("A process gets exactly the given environment")
  func environment() async throws {
    let result = try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/env"), environment: ["ONLY": "this"])
    let names = result.output.split(separator: "\n").compactMap { $0.split(separator: "=").first }
    let added: Set<String> = ["PWD", "SHLVL", "_", "OLDPWD", ChildProcess.runVariable]
    let given: Set<String> = Set(names.map { String($0) }).subtracting(added)
    #expect(given == ["ONLY"])
    let isMarked = result.output.contains("\(ChildProcess.runVariable)=")
    let isRun = ProcessInfo.processInfo.environment[ChildProcess.runVariable] != nil
    #expect(isMarked == isRun)
  }

  @Test("A server's first line is read while it runs, and SIGTERM ends it")
  func server() async throws {
    let script = "trap 'exit 3' TERM; echo ready; while true; do sleep 0.01; done"
    try await ChildProcess.withRunning(Self.shell, ["-c", script]) { process in
      let line = try await process.firstLine()
      #expect(line == "ready" && process.status == nil)
      let status = try await process.terminate()
      #expect(status == 3)
    }
    try await ChildProcess.withRunning(Self.shell, ["-c", "exit 1"]) { process in
      let line = try await process.firstLine()
      #expect(line == nil)
    }
  }

  @Test("When the scope ends, the process and its children have ended, even if they ignore SIGTERM")
  func scope() async throws {
    let processes = try await ChildProcess.withRunning(Self.shell, Self.parent) { process in
      let line = try await process.firstLine()
      return [process.processIdentifier, try #require(Int32(line ?? ""))]
    }
    try await expectEnded(processes)
  }

  @Test("When the scope throws, the process and its children have ended")
  func failure() async throws {
    let (processes, found) = AsyncStream.makeStream(of: [Int32].self)
    await #expect(throws: Failure.self) {
      try await ChildProcess.withRunning(Self.shell, Self.parent) { process in
        found.yield([process.processIdentifier, Int32(try await process.firstLine() ?? "") ?? 0])
        throw Failure()
      }
    }
    for await pair in processes {
      try await expectEnded(pair)
      break
    }
  }

  @Test("When its task is cancelled, the process and its children have ended")
  func cancellation() async throws {
    let (processes, found) = AsyncStream.makeStream(of: [Int32].self)
    let task = Task {
      try await ChildProcess.withRunning(Self.shell, Self.parent) { process in
        found.yield([process.processIdentifier, Int32(try await process.firstLine() ?? "") ?? 0])
        _ = try await process.wait()
      }
    }
    for await pair in processes {
      task.cancel()
      await #expect(throws: (any Error).self) { try await task.value }
      try await expectEnded(pair)
      break
    }
  }

  @Test("The kernel kills a process whose parent has been killed")
  func parentDeath() async throws {
    let folder = try TemporaryFolder()
    // The shell stands for the test process: it starts a program as `withRunning` does.
    let script =
      #"/usr/bin/setpriv "$1" "$2" "$3" "$4" "$5" "$6" $$ "$7" "$8" /bin/sleep 1000 & echo $!; wait"#
    let files = [folder.path("output").path, folder.path("errors").path]
    let arguments = ["-c", script, "parent"] + ChildProcess.launcher + files
    try await ChildProcess.withRunning(Self.shell, arguments) { process in
      let line = try await process.firstLine()
      let child = try #require(Int32(line ?? ""))
      try await Patience.until { program(of: child) == "/bin/sleep" }
      process.send(SIGKILL)
      _ = try await process.wait()
      try await expectEnded([child])
    }
  }

  private func program(of process: Int32) -> String? {
    let line = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
    return line?.split(separator: "\0").first.map(String.init)
  }
}

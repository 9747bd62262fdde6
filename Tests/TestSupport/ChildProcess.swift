// SPDX-License-Identifier: Apache-2.0
import Foundation
import Subprocess
import SystemPackage

/// A program that a test runs in a process of its own.
///
/// No process outlives its test. When `withRunning` returns, throws or is cancelled, the process has been killed
/// and reaped, with its own children. If the test process itself dies, the kernel kills the program: it runs
/// with a parent-death signal.
public struct ChildProcess: Sendable {
  /// A program that has ended.
  public struct Result: Sendable {
    /// The exit status, or minus the number of the signal that killed the program.
    public let status: Int32
    /// The text on stdout.
    public let output: String
    /// The text on stderr.
    public let errors: String
  }

  /// The arguments of `setpriv` before the parent's process identifier, the files for stdout and stderr, and the
  /// program with its arguments.
  ///
  /// They set the parent-death signal, then check that the parent is still there: a parent that died before the
  /// signal was set would not be noticed. `exec` keeps the process identifier, so signals reach the program.
  package static let launcher = [
    "--pdeathsig", "KILL", "--", "/bin/sh", "-c",
    #"[ "$PPID" = "$0" ] || exit 125; exec >>"$1" 2>>"$2"; shift 2; exec "$@""#,
  ]

  /// `scripts/run-tests` sets this variable and finds leftover processes by it, so every process gets it.
  package static let runVariable = "FIREBREAK_TEST_RUN"

  /// The process.
  public let processIdentifier: Int32
  private let outputFile: URL
  private let errorFile: URL

  /// Runs `program` to its end.
  ///
  /// - Parameters:
  ///   - program: The path of the executable.
  ///   - arguments: Its arguments.
  ///   - environment: Its environment besides `runVariable`; the test's own by default.
  ///   - output: The file or device for stdout. A temporary file by default; only then does the result have its
  ///     text.
  ///   - combinesOutput: If true, stderr is written to stdout, in the order of the writes.
  /// - Returns: The exit status and the text that the program wrote.
  /// - Throws: If the process cannot be started, or `CancellationError`.
  public nonisolated(nonsending) static func run(
    _ program: URL, _ arguments: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment, output: URL? = nil,
    combinesOutput: Bool = false
  ) async throws -> Result {
    try await withRunning(
      program, arguments, environment: environment, output: output, combinesOutput: combinesOutput
    ) { process in
      let status = try await process.wait()
      return Result(
        status: status, output: output == nil ? try process.output : "",
        errors: try process.errors)
    }
  }

  /// Runs `program` as long as `body` runs, and then kills it if it has not ended.
  ///
  /// The parameters are those of `run`.
  ///
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or if the process cannot be started.
  public nonisolated(nonsending) static func withRunning<Value: Sendable>(
    _ program: URL, _ arguments: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment, output: URL? = nil,
    combinesOutput: Bool = false,
    body: nonisolated(nonsending) (ChildProcess) async throws -> Value
  ) async throws -> Value {
    TestNeed.requireDeclaration(of: .process)
    let folder = try TemporaryFolder()
    let outputFile = output ?? folder.path("output")
    let errorFile = combinesOutput ? outputFile : folder.path("errors")
    var options = PlatformOptions()
    options.processGroupID = 0
    options.teardownSequence = [
      .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .zero)
    ]
    let launch =
      launcher + ["\(ProcessInfo.processInfo.processIdentifier)"]
      + [outputFile.path, errorFile.path, program.path]
    var marked = environment
    marked[runVariable] = ProcessInfo.processInfo.environment[runVariable]
    let variables = marked.compactMap { name, value in
      Environment.Key(rawValue: name).map { ($0, value) }
    }
    let run = try await Subprocess.run(
      .path("/usr/bin/setpriv"), arguments: Arguments(launch + arguments),
      environment: .custom(Dictionary(uniqueKeysWithValues: variables)), platformOptions: options,
      input: .none, output: .discarded, error: .discarded
    ) { execution in
      let process = ChildProcess(
        processIdentifier: execution.processIdentifier.value, outputFile: outputFile,
        errorFile: errorFile)
      // The process is not reaped before this closure returns, so the group is still its own.
      defer { process.kill() }
      return try await body(process)
    }
    return run.closureResult
  }

  /// The exit status, or minus the number of the signal that killed the process; `nil` as long as it runs.
  public var status: Int32? {
    var info = siginfo_t()
    let options = WEXITED | WNOHANG | WNOWAIT
    guard waitid(P_PID, id_t(processIdentifier), &info, options) == 0, info.si_signo != 0
    else { return nil }
    let status = info._sifields._sigchld.si_status
    return info.si_code == CLD_EXITED ? status : -status
  }

  /// The text on stdout so far.
  public var output: String {
    get throws { try Self.text(of: outputFile) }
  }

  /// The text on stderr so far.
  public var errors: String {
    get throws { try Self.text(of: errorFile) }
  }

  /// Waits for the end of the process and returns its `status`.
  ///
  /// - Throws: `ProcessTimeout`
  public nonisolated(nonsending) func wait() async throws -> Int32 {
    try await poll(for: "end", atMost: .seconds(60 * Patience.minutes)) { status }
  }

  /// Waits for the first line on stdout; `nil` if the process ends without one.
  ///
  /// - Throws: `ProcessTimeout`
  public nonisolated(nonsending) func firstLine() async throws -> String? {
    try await poll(for: "write a line", atMost: .seconds(Patience.seconds)) { () -> String?? in
      let hasEnded = status != nil
      let text = try output
      if let end = text.firstIndex(of: "\n") { return String(text[..<end]) }
      return hasEnded ? .some(nil) : nil
    }
  }

  /// Calls `body` until it returns a value.
  private nonisolated(nonsending) func poll<Value>(
    for event: String, atMost limit: Duration, _ body: () throws -> Value?
  ) async throws -> Value {
    let start = ContinuousClock.now
    while true {
      if let value = try body() { return value }
      let elapsed = ContinuousClock.now - start
      guard elapsed < limit else {
        throw ProcessTimeout(event: event, limit: limit, errors: try errors)
      }
      try await Task.sleep(for: Patience.pause(after: elapsed, atLeast: .milliseconds(5)))
    }
  }

  /// Sends `signal` to the process; no effect if it has ended.
  public func send(_ signal: Int32) { _ = Foundation.kill(processIdentifier, signal) }

  /// Sends SIGTERM, waits for the end of the process and returns its `status`.
  public nonisolated(nonsending) func terminate() async throws -> Int32 {
    send(SIGTERM)
    return try await wait()
  }

  /// Kills the process and its children.
  public func kill() { _ = Foundation.kill(-processIdentifier, SIGKILL) }

  /// The file does not exist before the launcher has opened it.
  private static func text(of file: URL) throws -> String {
    guard FileManager.default.fileExists(atPath: file.path) else { return "" }
    return String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }
}

/// A process did not do in time what a test waits for.
struct ProcessTimeout: Error, CustomStringConvertible {
  let event: String
  let limit: Duration
  let errors: String

  var description: String {
    "the process did not \(event) within \(limit): look for the cause in its errors: \(errors)"
  }
}

/// A program that runs until the last reference to this object is gone: for a server that several functions of a
/// test use. `ChildProcess.withRunning` is to be preferred where one scope is enough.
public final class BackgroundProcess: Sendable {
  /// The process.
  public let process: ChildProcess
  private let scope: Task<Void, Never>

  /// Starts `program`; the parameters are those of `ChildProcess.run`.
  ///
  /// - Throws: If the process cannot be started.
  public init(
    _ program: URL, _ arguments: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment, output: URL? = nil
  ) async throws {
    let (starts, start) = AsyncThrowingStream.makeStream(of: ChildProcess.self)
    scope = Task {
      do {
        try await ChildProcess.withRunning(
          program, arguments, environment: environment, output: output
        ) { process in
          start.yield(process)
          while true { try await Task.sleep(for: .seconds(3_600)) }
        }
      } catch {
        start.finish(throwing: error)
      }
    }
    for try await process in starts {
      self.process = process
      return
    }
    scope.cancel()
    throw CancellationError()
  }

  deinit {
    // Until the scope is cancelled, the process is not reaped, and its group is still its own.
    process.kill()
    scope.cancel()
  }
}

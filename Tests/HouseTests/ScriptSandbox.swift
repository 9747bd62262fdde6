// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A machine with a few commands on which one of the project's scripts runs. The scripts are the real ones.
struct ScriptSandbox {
  private static let tools = [
    "awk", "bash", "cat", "comm", "cut", "dirname", "env", "grep", "head", "mkdir", "mkfifo",
    "mktemp", "nice", "nproc", "paste", "rm", "sed", "sleep", "sort", "tee", "timeout", "touch",
    "tr", "true", "wc",
  ]

  private let script: String
  private let folder: TemporaryFolder

  /// A machine for `scripts/<script>`, without Swift.
  init(for script: String) throws {
    self.script = "project/scripts/\(script)"
    folder = try TemporaryFolder()
    let files = FileManager.default
    try files.createDirectory(at: folder.path("project"), withIntermediateDirectories: true)
    try files.copyItem(
      at: SharedData.projectRoot.appendingPathComponent("scripts"),
      to: folder.path("project/scripts"))
    try Data("// no package".utf8).write(to: folder.path("project/Package.swift"))
    try files.createDirectory(at: folder.path("bin"), withIntermediateDirectories: true)
    for tool in Self.tools {
      try files.createSymbolicLink(
        atPath: folder.path("bin/\(tool)").path, withDestinationPath: try Self.path(of: tool))
    }
  }

  /// Adds a command that runs `script` in bash, or replaces one. It may also be a path from the folder of commands.
  func add(_ command: String, _ script: String) throws {
    let url = folder.path("bin/\(command)")
    // Writing through a link would change the tool of this machine.
    if FileManager.default.fileExists(atPath: url.path) {
      try FileManager.default.removeItem(at: url)
    }
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("#!\(try Self.path(of: "bash"))\n\(script)\n".utf8).write(to: url)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: url.path)
  }

  /// Adds a folder of the project.
  func addFolder(_ path: String) throws {
    try FileManager.default.createDirectory(
      at: folder.path("project/\(path)"), withIntermediateDirectories: true)
  }

  /// The content of a file that the script wrote.
  func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.path(path)), as: UTF8.self)
  }

  /// Runs the script and returns its exit status and its lines on stdout and stderr.
  nonisolated(nonsending) func run(
    _ arguments: String...
  ) async throws -> (status: Int32, lines: [String]) {
    try await withRunning(arguments) { process in
      let status = try await process.wait()
      return (status, try process.output.split(separator: "\n").map(String.init))
    }
  }

  /// Runs the script while `body` runs; stdout has stderr as well.
  nonisolated(nonsending) func withRunning<Value: Sendable>(
    _ arguments: [String] = [],
    body: nonisolated(nonsending) (ChildProcess) async throws -> Value
  ) async throws -> Value {
    try await ChildProcess.withRunning(
      URL(fileURLWithPath: try Self.path(of: "bash")), [folder.path(script).path] + arguments,
      environment: ["PATH": folder.path("bin").path, "TMPDIR": folder.url.path],
      combinesOutput: true, body: body)
  }

  private static func path(of tool: String) throws -> String {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"]
    return try #require(
      folders.map { "\($0)/\(tool)" }.first(where: FileManager.default.isExecutableFile))
  }
}

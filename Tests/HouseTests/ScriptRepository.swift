// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A project with one of the real scripts, in a folder of its own, whose files can be committed.
struct ScriptRepository {
  /// The folder around that of the project.
  let folder: TemporaryFolder
  /// The folder of the project.
  var project: URL { folder.path("project") }

  /// A project of `scripts/<script>` and empty folders, without a commit.
  init(with script: String, folders: [String]) throws {
    folder = try TemporaryFolder()
    let files = FileManager.default
    for name in ["scripts"] + folders {
      try files.createDirectory(
        at: project.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    try files.copyItem(
      at: SharedData.projectRoot.appendingPathComponent("scripts/\(script)"),
      to: project.appendingPathComponent("scripts/\(script)"))
  }

  /// Writes a file of the project.
  func write(_ text: String, to name: String, isProgram: Bool = false) throws {
    let file = project.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    if isProgram {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }
  }

  /// Runs a command in the folder of the project, without this machine's settings of git.
  nonisolated(nonsending) func run(
    _ command: [String], environment: [String: String] = [:]
  ) async throws -> ChildProcess.Result {
    let own = [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.url.path, "GIT_CONFIG_NOSYSTEM": "1",
    ]
    return try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/env"), ["-C", project.path] + command,
      environment: own.merging(environment) { $1 })
  }

  /// Runs git with an author, and returns its output without the last newline.
  @discardableResult
  nonisolated(nonsending) func git(_ arguments: String...) async throws -> String {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    let result = try await run(["git"] + author + arguments)
    #expect(result.status == 0, "\(arguments): \(result.errors)")
    return result.output.trimmingCharacters(in: .newlines)
  }

  /// Commits every file of the project.
  nonisolated(nonsending) func commitAll() async throws {
    try await git("init", "--quiet")
    try await git("add", ".")
    try await git("commit", "--quiet", "--allow-empty", "--message", "a")
  }
}

import Foundation
import TestSupport
import Testing

/// A machine made of the few commands that one of the project's scripts may find. The script is the real one.
struct BareMachine {
  private static let tools = [
    "bash", "dirname", "env", "grep", "head", "mkdir", "mktemp", "rm", "tee", "touch", "true",
  ]

  private let script: String
  private let folder: TemporaryFolder

  /// A machine for `scripts/<script>`, with no Swift on it.
  init(for script: String) throws {
    self.script = "project/scripts/\(script)"
    folder = try TemporaryFolder()
    let files = FileManager.default
    try files.createDirectory(
      at: folder.path("project/scripts"), withIntermediateDirectories: true)
    try files.copyItem(
      at: SharedData.projectRoot.appendingPathComponent("scripts/\(script)"),
      to: folder.path(self.script))
    try Data("// no package".utf8).write(to: folder.path("project/Package.swift"))
    try files.createDirectory(at: folder.path("bin"), withIntermediateDirectories: true)
    for tool in Self.tools {
      try files.createSymbolicLink(
        atPath: folder.path("bin/\(tool)").path, withDestinationPath: try Self.path(of: tool))
    }
  }

  /// Adds a command to the machine.
  func add(_ command: String, _ script: String) throws {
    let url = folder.path("bin/\(command)")
    try Data("#!\(try Self.path(of: "bash"))\n\(script)\n".utf8).write(to: url)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: url.path)
  }

  /// Runs the script and returns how it ended and what it said.
  func run(_ arguments: String...) throws -> (status: Int32, lines: [String]) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: try Self.path(of: "bash"))
    process.arguments = [folder.path(script).path] + arguments
    process.environment = ["PATH": folder.path("bin").path, "TMPDIR": folder.url.path]
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    return (process.terminationStatus, lines)
  }

  private static func path(of tool: String) throws -> String {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"]
    return try #require(
      folders.map { "\($0)/\(tool)" }.first(where: FileManager.default.isExecutableFile))
  }
}

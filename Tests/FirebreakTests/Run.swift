import Foundation
import TestSupport

/// A run of the built `firebreak` in a process of its own.
struct Run {
  /// The exit status.
  let status: Int32
  let output: String
  let errors: String

  init(_ arguments: String...) async throws {
    try await self.init(arguments)
  }

  /// - Parameters:
  ///   - device: The file or device for stdout, whose content is then not in `output`.
  ///   - temporaryFolder: The folder for the program's temporary files.
  init(
    _ arguments: [String], output device: URL? = nil, temporaryFolder: URL? = nil
  ) async throws {
    let result = try await ChildProcess.run(
      try Self.product(), arguments,
      environment: Self.environment(adding: temporaryFolder.map { ["TMPDIR": $0.path] } ?? [:]),
      output: device)
    (status, output, errors) = (result.status, result.output, result.errors)
  }

  /// The JSON object on stdout.
  func json() throws -> NSDictionary? {
    try JSONSerialization.jsonObject(with: Data(output.utf8)) as? NSDictionary
  }

  /// The built program, next to the test bundle.
  static func product() throws -> URL {
    let bundle = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/exe"))
    let sibling = bundle.deletingLastPathComponent().appendingPathComponent("firebreak")
    let debug = SharedData.projectRoot.appendingPathComponent(".build/debug/firebreak")
    return FileManager.default.isExecutableFile(atPath: sibling.path) ? sibling : debug
  }

  static func environment(adding variables: [String: String]) -> [String: String] {
    ProcessInfo.processInfo.environment.merging(variables) { $1 }
  }
}

/// Runs shell scripts.
enum Shell {
  static func run(
    _ script: String, environment: [String: String] = [:]
  ) async throws -> ChildProcess.Result {
    try await ChildProcess.run(
      URL(fileURLWithPath: "/bin/bash"), ["-c", script],
      environment: Run.environment(adding: environment))
  }
}

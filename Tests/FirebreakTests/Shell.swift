import Foundation
import TestSupport

/// One run of a shell script.
enum Shell {
  static func run(
    _ script: String, environment: [String: String] = [:]
  ) throws -> (status: Int32, output: String, errors: String) {
    let folder = try TemporaryFolder()
    let (output, errors) = (folder.path("output"), folder.path("errors"))
    for file in [output, errors] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", script]
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    return (
      process.terminationStatus, try String(contentsOf: output, encoding: .utf8),
      try String(contentsOf: errors, encoding: .utf8)
    )
  }
}

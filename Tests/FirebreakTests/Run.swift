import Foundation
import TestSupport

/// One run of the built `firebreak`, as a process of its own.
struct Run {
  let status: Int32
  let output: String
  let errors: String

  init(_ arguments: String...) throws {
    try self.init(arguments)
  }

  /// With its stdout in the file `output`, or in one of its own; with `temporaryFolder` as the place of
  /// its temporary files.
  init(_ arguments: [String], output device: URL? = nil, temporaryFolder: URL? = nil) throws {
    let folder = try TemporaryFolder()
    let (output, errors) = (device ?? folder.path("output"), folder.path("errors"))
    if device == nil { try Data().write(to: output) }
    try Data().write(to: errors)
    let process = Process()
    process.executableURL = try Self.product()
    process.arguments = arguments
    if let temporaryFolder {
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["TMPDIR": temporaryFolder.path]) { $1 }
    }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    status = process.terminationStatus
    self.output = device == nil ? try String(contentsOf: output, encoding: .utf8) : ""
    self.errors = try String(contentsOf: errors, encoding: .utf8)
  }

  /// The one JSON object on stdout.
  func json() throws -> NSDictionary? {
    try JSONSerialization.jsonObject(with: Data(output.utf8)) as? NSDictionary
  }

  /// The product lies beside the test bundle.
  static func product() throws -> URL {
    let bundle = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/exe"))
    let beside = bundle.deletingLastPathComponent().appendingPathComponent("firebreak")
    let debug = SharedData.projectRoot.appendingPathComponent(".build/debug/firebreak")
    return FileManager.default.isExecutableFile(atPath: beside.path) ? beside : debug
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A run of the built `firebreak` in a process of its own.
package struct Run {
  /// The exit status.
  package let status: Int32
  package let output: String
  package let errors: String

  package init(_ arguments: String...) async throws {
    try await self.init(arguments)
  }

  /// - Parameters:
  ///   - device: The file or device for stdout, whose content is then not in `output`.
  ///   - temporaryFolder: The folder for the program's temporary files; one of its own by default.
  ///   - workingFolder: The current folder of the program; that of the test by default.
  ///   - environment: Variables besides those of the test.
  package init(
    _ arguments: [String], output device: URL? = nil, temporaryFolder: URL? = nil,
    workingFolder: URL? = nil, environment: [String: String] = [:]
  ) async throws {
    let own = try TemporaryFolder()
    defer { withExtendedLifetime(own) {} }
    let (program, words) = try Self.command(arguments, in: workingFolder)
    let result = try await ChildProcess.run(
      program, words,
      environment: Self.environment(
        adding: environment.merging(["TMPDIR": (temporaryFolder ?? own.url).path]) { $1 }),
      output: device)
    (status, output, errors) = (result.status, result.output, result.errors)
  }

  /// A program and its arguments that run `firebreak` with `arguments` in `folder`.
  package static func command(
    _ arguments: [String], in folder: URL?
  ) throws -> (program: URL, arguments: [String]) {
    let product = try product()
    guard let folder else { return (product, arguments) }
    return (URL(fileURLWithPath: "/usr/bin/env"), ["-C", folder.path, product.path] + arguments)
  }

  /// The JSON object on stdout.
  package func json() throws -> NSDictionary? {
    try JSONSerialization.jsonObject(with: Data(output.utf8)) as? NSDictionary
  }

  /// The built program, next to the test bundle.
  package static func product() throws -> URL {
    let bundle = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/exe"))
    let sibling = bundle.deletingLastPathComponent().appendingPathComponent("firebreak")
    let debug = SharedData.projectRoot.appendingPathComponent(".build/debug/firebreak")
    return FileManager.default.isExecutableFile(atPath: sibling.path) ? sibling : debug
  }

  package static func environment(adding variables: [String: String]) -> [String: String] {
    ProcessInfo.processInfo.environment.merging(variables) { $1 }
  }
}

/// Runs shell scripts.
package enum Shell {
  package static func run(
    _ script: String, environment: [String: String] = [:]
  ) async throws -> ChildProcess.Result {
    try await ChildProcess.run(
      URL(fileURLWithPath: "/bin/bash"), ["-c", script],
      environment: Run.environment(adding: environment))
  }
}

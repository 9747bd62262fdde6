// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("scripts/sbom", .needs(.process))
struct SBOMTests {
  private let folder: TemporaryFolder
  private var artifact: String { folder.path("firebreak_1.deb").path }

  init() throws {
    folder = try TemporaryFolder()
    try Data("package".utf8).write(to: folder.path("firebreak_1.deb"))
  }

  /// Runs the script of a project, and returns its exit status and its lines on stderr.
  private func run(
    _ artifact: String, _ program: String, into file: String = "sbom.json", project: URL? = nil
  ) async throws -> ChildProcess.Result {
    let script = (project ?? SharedData.projectRoot).appendingPathComponent("scripts/sbom").path
    return try await Shell.run(
      "'\(script)' '\(artifact)' '\(program)' >'\(folder.path(file).path)'")
  }

  @Test(
    "It lists every Swift package and library with its version and license, and a second run gives the same bytes"
  )
  func complete() async throws {
    let program = try Run.product().path
    for file in ["first.json", "second.json"] {
      let run = try await run(artifact, program, into: file)
      #expect(run.status == 0, "\(run.errors)")
    }
    let first = folder.path("first.json")
    #expect(try Data(contentsOf: first) == Data(contentsOf: folder.path("second.json")))
    try await SPDXDocument(file: first.path).check(artifact: artifact)
  }

  @Test("A missing artifact, another program and packages that were not fetched are refused")
  func refused() async throws {
    let program = try Run.product().path
    let missing = folder.path("none").path
    let project = folder.path("project")
    let copied = try await Shell.run(
      "mkdir -p '\(project.path)' && cd '\(SharedData.projectRoot.path)'"
        + " && cp -R scripts Package.resolved '\(project.path)'")
    #expect(copied.status == 0, "\(copied.errors)")
    for (artifact, program, project, fault) in [
      (missing, program, nil, "\(missing) is missing"),
      (artifact, "/bin/true", nil, "does not tell its version"),
      (artifact, program, project, "run `make prepare` first"),
    ] {
      let run = try await run(artifact, program, project: project)
      #expect(run.status == 1 && run.errors.contains(fault), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(try Data(contentsOf: folder.path("sbom.json")).isEmpty)
    }
  }
}

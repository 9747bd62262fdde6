// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("The release archive", .needs(.process))
struct ArchiveTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The archive that the tests share, because making one takes half a minute of processor time.
  private static let archive = Task {
    try await makeArchive(
      in: SharedData.projectRoot.appendingPathComponent(".build/tested-archive").path)
  }

  /// Returns the file of a new archive in an empty folder.
  private static func makeArchive(in output: String) async throws -> String {
    let run = try await Shell.run(
      "rm -rf '\(output)' && cd '\(SharedData.projectRoot.path)'"
        + " && COMPRESSION=none scripts/archive '\(Run.product().path)' '\(output)'")
    try #require(run.status == 0, "\(run.output)\(run.errors)")
    let files = try FileManager.default.contentsOfDirectory(atPath: output)
    return output + "/" + (try #require(files.first { $0.hasSuffix(".tar") }))
  }

  @Test("It has the program with its files, units, samples, SBOM and checksums, and runs elsewhere")
  func content() async throws {
    let archive = try await Self.archive.value
    let extracted = try await Shell.run("tar -C '\(folder.url.path)' -xf '\(archive)'")
    #expect(extracted.status == 0, "\(extracted.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    let name = try #require(names.first)
    #expect(names.count == 1 && archive.hasSuffix("/\(name).tar"), "\(names)")
    for file in [
      "bin/firebreak", "share/man/man1/firebreak.1", "share/zsh/site-functions/_firebreak",
      "share/bash-completion/completions/firebreak",
      "share/fish/vendor_completions.d/firebreak.fish", "lib/systemd/system/firebreak.service",
      "share/firebreak/sockets/firebreak-keys.socket", "share/firebreak/firebreak.default",
      "share/firebreak/prometheus/firebreak.rules.yml", "share/firebreak/proxies/nginx.conf",
      "share/firebreak/proxies/Caddyfile", "share/doc/firebreak/LICENSE",
      "share/doc/firebreak/Installing.md", "share/doc/firebreak/firebreak.spdx.json",
    ] {
      let path = folder.path("\(name)/\(file)").path
      #expect(FileManager.default.fileExists(atPath: path), "\(file)")
    }
    let sums = try await Shell.run(
      "cd '\(folder.path(name).path)' && sha256sum --check --strict --quiet share/doc/firebreak/SHA256SUMS"
        + " && [ $(find . -type f | wc -l) = $(($(wc -l <share/doc/firebreak/SHA256SUMS) + 1)) ]")
    #expect(sums.status == 0, "\(sums.output)\(sums.errors)")
    try await SPDXDocument(
      file: folder.path("\(name)/share/doc/firebreak/firebreak.spdx.json").path
    ).check(artifact: folder.path("\(name)/lib/firebreak/firebreak").path)
    let libraries = try String(
      contentsOf: folder.path("\(name)/share/doc/firebreak/LIBRARIES"), encoding: .utf8)
    #expect(libraries.contains("libsqlite3.so.0\n") && !libraries.contains("wift"), "\(libraries)")
    try await runExtracted(folder.path("\(name)/bin/firebreak"))
  }

  /// The program finds its libraries and web files beside itself.
  private func runExtracted(_ program: URL) async throws {
    let version = try await ChildProcess.run(program, ["--version"])
    #expect(try await version.output == Run("--version").output)
    try await ChildProcess.withRunning(
      URL(fileURLWithPath: "/usr/bin/env"),
      ["-C", folder.url.path, program.path, "phone", "run", "--web", "0", "--json"]
    ) { process in
      let errors = try process.errors
      #expect(try await process.firstLine()?.contains(#""ready":true"#) == true, "\(errors)")
      #expect(try await process.terminate() == 0)
    }
  }

  @Test("Its SBOM is valid and has its checksum")
  func bill() async throws {
    let archive = try await Self.archive.value
    try await SPDXDocument(file: archive + ".spdx.json").check(artifact: archive)
  }

  @Test("Two archives of one program are equal byte for byte, and so are their SBOMs")
  func repeated() async throws {
    let first = try await Self.archive.value
    let second = try await Self.makeArchive(in: folder.path("second").path)
    for suffix in ["", ".spdx.json"] {
      #expect(try await Shell.run("cmp '\(first)\(suffix)' '\(second)\(suffix)'").status == 0)
    }
  }

  @Test("A program without libraries beside it, as with a static runtime, makes a complete archive")
  func withoutLibraries() async throws {
    let project = try await copiedProject(
      "static",
      "printf '#!/bin/sh\\n' >scripts/swift-libraries"
        + " && ln -s '\(SharedData.projectRoot.path)/.build' .build")
    let output = folder.path("out").path
    let run = try await Shell.run(
      "COMPRESSION=none '\(project)/scripts/archive' '\(Run.product().path)' '\(output)'")
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    let extracted = try await Shell.run(
      "tar -xOf '\(output)/'*.tar --wildcards '*/share/doc/firebreak/LIBRARIES'")
    // Those of the runtime are not beside it here, so the system must have them.
    for library in ["libsqlite3.so.0", "libswiftCore.so"] {
      #expect(extracted.output.contains("\(library)\n"), "\(extracted.output)\(extracted.errors)")
    }
  }

  /// Returns the path of a copy of what an archive is made of, in which `change` was run.
  private func copiedProject(_ name: String, _ change: String) async throws -> String {
    let project = folder.path(name).path
    let copied = try await Shell.run(
      "mkdir '\(project)' && cd '\(SharedData.projectRoot.path)'"
        + " && cp -R scripts Deployment Examples Documentation LICENSE Package.resolved '\(project)'"
        + " && cd '\(project)' && \(change)")
    try #require(copied.status == 0, "\(copied.errors)")
    return project
  }

  @Test("A missing program, missing web files and a missing part are named, and nothing is written")
  func refused() async throws {
    let unit = "Deployment/systemd/firebreak.service"
    let project = try await copiedProject("project", "rm \(unit)")
    let unprepared = try await copiedProject("unprepared", "rm Package.resolved")
    let (root, program) = (SharedData.projectRoot.path, try Run.product().path)
    let output = folder.path("out").path
    for (project, program, fault) in [
      (root, folder.path("none").path, "none is missing: run `make archive`"),
      (root, "/bin/true", "the web files are missing beside /bin/true"),
      (project, program, "\(unit) is missing: restore it with git"),
      (unprepared, program, "Package.resolved is missing: run `make prepare` first"),
    ] {
      let run = try await Shell.run("'\(project)/scripts/archive' '\(program)' '\(output)'")
      #expect(run.status == 2 && run.errors.contains(fault), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(!FileManager.default.fileExists(atPath: output))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("make install", .needs(.process))
struct InstallTests {
  private let folder: TemporaryFolder
  private var root: URL { folder.path("package/opt/firebreak") }

  init() throws { folder = try TemporaryFolder() }

  private func make(_ target: String, program: String? = nil) async throws -> ChildProcess.Result {
    let project = SharedData.projectRoot.path
    let program = try program ?? Run.product().path
    return try await Shell.run(
      "make -C '\(project)' \(target) PROGRAM='\(program)' PREFIX=/opt/firebreak"
        + " DESTDIR='\(folder.path("package").path)'")
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
  }

  @Test(
    "Program, manual page, completions and web files are installed, also a second time, and removed"
  )
  func installed() async throws {
    for _ in 1...2 {
      let run = try await make("install")
      #expect(run.status == 0, "\(run.errors)")
    }
    #expect(try text("share/man/man1/firebreak.1").hasPrefix(".TH FIREBREAK 1"))
    #expect(try text("share/zsh/site-functions/_firebreak").hasPrefix("#compdef firebreak"))
    #expect(try text("share/fish/vendor_completions.d/firebreak.fish").contains("keyfile"))
    #expect(try text("share/doc/firebreak/CommandLine.md").contains("make install"))
    let bash = root.appendingPathComponent("share/bash-completion/completions/firebreak").path
    let completion = try await Shell.run("source '\(bash)' && complete -p firebreak")
    #expect(completion.status == 0 && completion.output.contains("-F _firebreak firebreak"))
    try await runInstalled()
    #expect(try await make("uninstall").status == 0)
    #expect(folder.files().filter { $0.path.contains("/package/") }.isEmpty)
  }

  /// The installed program finds its web files beside itself, through the link in `bin`.
  private func runInstalled() async throws {
    let program = root.appendingPathComponent("bin/firebreak")
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

  @Test("Other users can run the program if the mask of the installing user is 077")
  func masked() async throws {
    let project = SharedData.projectRoot.path
    let run = try await Shell.run(
      "umask 077 && PREFIX='\(root.path) 2' '\(project)/scripts/install' '\(Run.product().path)'"
        + " && find '\(root.path) 2' ! -type l ! -perm -o=r -print")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.split(separator: "\n").count == 1, "\(run.output)")
  }

  @Test("A program that is not firebreak is refused with its fault, and leaves the installed one")
  func other() async throws {
    #expect(try await make("install").status == 0)
    let before = folder.files().map(\.path).sorted()
    let resources = folder.path("build/firebreak_PWA.resources")
    try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
    let program = folder.path("build/firebreak").path
    try FileManager.default.copyItem(atPath: "/bin/true", toPath: program)
    let installed = { before.filter { $0.contains("/package/") } }
    for (program, fault) in [
      ("/bin/true", "web files are missing"), (program, "name the built firebreak"),
      (resources.path, "is missing"),
    ] {
      let run = try await make("install", program: program)
      #expect(run.status != 0 && run.errors.contains(fault), "\(run.errors)")
      let after = folder.files().map(\.path).filter { $0.contains("/package/") }.sorted()
      #expect(after == installed())
    }
  }

  @Test("A program that is missing or does not start installs nothing")
  func missing() async throws {
    for program in [folder.path("none").path, "/bin/false"] {
      let run = try await make("install", program: program)
      #expect(run.status != 0 && !FileManager.default.fileExists(atPath: root.path))
    }
  }

  @Test("A program of the environment is installed and packaged, as one of the command line is")
  func environment() async throws {
    for target in ["install", "package", "archive"] {
      let commands = "make -C '\(SharedData.projectRoot.path)' --dry-run \(target)"
      let run = try await Shell.run("PROGRAM='/a b/firebreak' \(commands)")
      #expect(run.status == 0 && run.output.contains("scripts/\(target) \"/a b/firebreak\""))
      #expect(!run.output.contains("build-release"), "\(run.output)")
      let built = try await Shell.run("unset PROGRAM; \(commands)")
      #expect(built.output.contains("scripts/build-release"), "\(built.output)")
    }
    let compared = try await Shell.run(
      "PROGRAM='/a b/firebreak' make -C '\(SharedData.projectRoot.path)' --dry-run reproduce")
    #expect(compared.output.contains("scripts/reproduce \"/a b/firebreak\""), "\(compared)")
  }

  /// Installs a small program of this many bytes, which tells its version, below `root`.
  private func installSmall(bytes: Int, in root: URL) async throws -> ChildProcess.Result {
    let resources = folder.path("small/firebreak_PWA.resources")
    try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
    let program = folder.path("small/firebreak")
    let text = "#!/bin/sh\necho firebreak 1\nexit\n"
    try Data((text + String(repeating: "#", count: bytes)).utf8).write(to: program)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
    let script = SharedData.projectRoot.appendingPathComponent("scripts/install").path
    return try await Shell.run("PREFIX='\(root.path)' '\(script)' '\(program.path)'")
  }

  @Test("A full disk leaves the installed program and nothing else", .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 16 << 20)
    let first = try await installSmall(bytes: 1, in: disk.url)
    #expect(first.status == 0, "\(first.errors)")
    let files = try FileManager.default.subpathsOfDirectory(atPath: disk.url.path).sorted()
    let second = try await installSmall(bytes: 20 << 20, in: disk.url)
    #expect(second.status != 0 && second.errors.contains("No space left"), "\(second.errors)")
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: disk.url.path).sorted() == files)
    let version = try await ChildProcess.run(
      disk.url.appendingPathComponent("bin/firebreak"), ["--version"])
    #expect(version.output == "firebreak 1\n")
  }

  @Test("The installed program itself is refused and stays, and a failed removal is told")
  func itself() async throws {
    #expect(try await installSmall(bytes: 1, in: root).status == 0)
    let script = SharedData.projectRoot.appendingPathComponent("scripts/install").path
    for name in ["lib/firebreak/firebreak", "bin/firebreak"] {
      let program = root.appendingPathComponent(name).path
      let run = try await Shell.run("PREFIX='\(root.path)' '\(script)' '\(program)'")
      #expect(run.status == 2 && run.errors.contains("is the installed program itself"))
      #expect(try await ChildProcess.run(root.appendingPathComponent(name), []).status == 0)
    }
    // A folder in the place of a file cannot be removed as one.
    let manual = root.appendingPathComponent("share/man/man1/firebreak.1")
    try FileManager.default.removeItem(at: manual)
    try FileManager.default.createDirectory(at: manual, withIntermediateDirectories: false)
    let removal = try await Shell.run("PREFIX='\(root.path)' '\(script)' --remove")
    #expect(removal.status == 1 && removal.errors.contains("firebreak.1"))
    #expect(!removal.errors.contains("make release"), "\(removal.errors)")
  }
}

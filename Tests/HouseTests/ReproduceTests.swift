// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("scripts/reproduce", .needs(.process))
struct ReproduceTests {
  private let folder: TemporaryFolder
  private var project: URL { folder.path("project") }

  /// A committed project whose build writes a program without a compiler: it needs the fetched packages and their
  /// versions, as Swift does.
  init() async throws {
    folder = try TemporaryFolder()
    let files = FileManager.default
    for name in ["scripts", ".build/checkouts/nio", ".build/repositories/nio"] {
      try files.createDirectory(
        at: project.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    try files.copyItem(
      at: SharedData.projectRoot.appendingPathComponent("scripts/reproduce"),
      to: project.appendingPathComponent("scripts/reproduce"))
    try write("{}", to: ".build/workspace-state.json")
    try write("nio 1", to: "Package.resolved")
    try write(".build/\n.build-*/\nPackage.resolved\n", to: ".gitignore")
    try write("#!/bin/sh\ncp \"$1\" \"$2\"\n", to: "scripts/reproducible", isProgram: true)
    try await commit(program: "cat Package.resolved")
  }

  private func write(_ text: String, to name: String, isProgram: Bool = false) throws {
    let file = project.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    if isProgram {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }
  }

  /// Commits a build that writes the output of a command as the program.
  private func commit(program command: String) async throws {
    let build = """
      #!/bin/sh
      set -e
      test -d .build-release/checkouts/nio
      test -d .build-release/repositories/nio
      test -f .build-release/workspace-state.json
      mkdir -p .build-release/release
      \(command) >".build-release/release/$1"
      """
    try write(build, to: "scripts/build-release", isProgram: true)
    let git = "git -c user.name=a -c user.email=a@example.com"
    let result = try await shell(
      "git init --quiet && git add . && \(git) commit --quiet --allow-empty --message a")
    #expect(result.status == 0, "\(result.errors)")
  }

  private func shell(_ command: String) async throws -> ChildProcess.Result {
    try await ChildProcess.run(
      URL(fileURLWithPath: "/bin/bash"), ["-c", "cd '\(project.path)' && \(command)"],
      environment: [
        "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.url.path,
        "GIT_CONFIG_NOSYSTEM": "1", "TMPDIR": folder.url.path, "SWIFT_PRODUCT": "small",
      ])
  }

  private func builds() -> [String] {
    folder.files().map(\.path).filter { $0.contains("firebreak-reproduce-") }
  }

  @Test("Two builds with the fetched packages are compared, and nothing is left if they are equal")
  func equal() async throws {
    let result = try await shell("scripts/reproduce")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.hasPrefix("Two builds of small are equal: SHA-256 "))
    #expect(result.output.hasSuffix(", 5 bytes.\n"), "\(result.output)")
    #expect(builds().isEmpty)
  }

  @Test("A program with the path of its folder is a difference, and both programs are kept")
  func different() async throws {
    try await commit(program: "pwd")
    let result = try await shell("scripts/reproduce")
    #expect(result.status == 1 && result.errors.contains("the two builds of small differ"))
    #expect(builds().filter { $0.hasSuffix(".stripped") }.count == 2)
  }

  @Test("Changes that are not committed, and packages that were not fetched, are refused")
  func refused() async throws {
    try write("# changed", to: "scripts/reproducible")
    let changed = try await shell("scripts/reproduce")
    #expect(changed.status == 1 && changed.errors.contains("have changed since the last commit"))
    _ = try await shell("git checkout --quiet .")
    try FileManager.default.removeItem(at: project.appendingPathComponent("Package.resolved"))
    let unfetched = try await shell("scripts/reproduce")
    #expect(unfetched.status == 1 && unfetched.errors.contains("make demo"))
    #expect(builds().isEmpty)
  }
}

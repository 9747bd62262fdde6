// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("scripts/reproduce", .needs(.process))
struct ReproduceTests {
  private let repository: ScriptRepository

  /// A committed project whose build writes a program without a compiler: it needs the fetched packages and their
  /// versions, as Swift does.
  init() async throws {
    repository = try ScriptRepository(
      with: "reproduce", folders: [".build/checkouts/nio", ".build/repositories/nio"])
    try repository.write("{}", to: ".build/workspace-state.json")
    try repository.write("nio 1", to: "Package.resolved")
    try repository.write(".build/\n.build-*/\nPackage.resolved\n", to: ".gitignore")
    try repository.write(
      "#!/bin/sh\ncp \"$1\" \"$2\"\n", to: "scripts/reproducible", isProgram: true)
    try await commit(program: "cat Package.resolved")
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
    try repository.write(build, to: "scripts/build-release", isProgram: true)
    try await repository.commitAll()
  }

  private func reproduce(_ arguments: String...) async throws -> ChildProcess.Result {
    try await repository.run(
      ["scripts/reproduce"] + arguments,
      environment: ["TMPDIR": repository.folder.url.path, "SWIFT_PRODUCT": "small"])
  }

  private func builds() -> [String] {
    repository.folder.files().map(\.path).filter { $0.contains("firebreak-reproduce-") }
  }

  @Test("Two builds with the fetched packages are compared, and nothing is left if they are equal")
  func equal() async throws {
    let result = try await reproduce()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.hasPrefix("Two builds of small are equal: SHA-256 "))
    #expect(result.output.hasSuffix(", 5 bytes.\n"), "\(result.output)")
    #expect(builds().isEmpty)
  }

  @Test("A program with the path of its folder is a difference, and both programs are kept")
  func different() async throws {
    try await commit(program: "pwd")
    let result = try await reproduce()
    #expect(result.status == 1 && result.errors.contains("the two builds of small differ"))
    #expect(builds().filter { $0.hasSuffix(".stripped") }.count == 2)
  }

  @Test("An earlier build is compared with one of the last commit")
  func earlier() async throws {
    try repository.write("nio 1", to: ".build/earlier")
    let equal = try await reproduce(".build/earlier")
    #expect(equal.status == 0 && equal.output.hasPrefix("Two builds of small are equal"))
    #expect(builds().isEmpty)
    let missing = try await reproduce(".build/missing")
    #expect(missing.status == 1 && missing.errors.contains("there is no program .build/missing"))
    #expect(builds().isEmpty)
    try repository.write("nio 2", to: ".build/earlier")
    let other = try await reproduce(".build/earlier")
    #expect(other.status == 1 && other.errors.contains("is .build/earlier a build of commit "))
  }

  @Test("A build that fails is told, and leaves nothing")
  func failed() async throws {
    try await commit(program: "echo started >large && false")
    let result = try await reproduce()
    #expect(result.status == 1 && result.errors.contains("the build of small failed"))
    #expect(builds().isEmpty)
  }

  @Test("Changes that are not committed, and packages that were not fetched, are refused")
  func refused() async throws {
    try repository.write("# changed", to: "scripts/reproducible")
    let changed = try await reproduce()
    #expect(changed.status == 1 && changed.errors.contains("have changed since the last commit"))
    try await repository.git("checkout", "--quiet", ".")
    try FileManager.default.removeItem(
      at: repository.project.appendingPathComponent("Package.resolved"))
    let unfetched = try await reproduce()
    #expect(unfetched.status == 1 && unfetched.errors.contains("make demo"))
    #expect(builds().isEmpty)
  }
}

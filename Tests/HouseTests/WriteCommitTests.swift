// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("scripts/write-commit", .needs(.process))
struct WriteCommitTests {
  private let repository: ScriptRepository
  private var written: URL { repository.folder.path("BuildCommit.swift") }

  /// A project of the script and one source, without a commit.
  init() throws {
    repository = try ScriptRepository(with: "write-commit", folders: ["Sources"])
    try repository.write("let a = 1", to: "Sources/A.swift")
    try repository.write("", to: "Package.swift")
  }

  private func run(_ command: String...) async throws {
    let result = try await repository.run(command)
    #expect(result.status == 0, "\(command): \(result.errors)")
  }

  /// Commits every file of the project, and returns the short hash.
  private func commit() async throws -> String {
    try await repository.commitAll()
    return try await repository.git("rev-parse", "--short=8", "HEAD")
  }

  /// Runs the script and returns the commit in the file that it wrote.
  private func writtenCommit() async throws -> String {
    try await run("scripts/write-commit", written.path)
    let text = String(decoding: try Data(contentsOf: written), as: UTF8.self)
    return String(try #require(text.firstMatch(of: #/static var name: String \{ "(.*)" \}/#)).1)
  }

  @Test("Without a repository the commit is empty, also inside of another repository")
  func noRepository() async throws {
    #expect(try await writtenCommit() == "")
    try await repository.git("-C", "..", "init", "--quiet")
    try await repository.git("-C", "..", "add", ".")
    try await repository.git("-C", "..", "commit", "--quiet", "--message", "a")
    #expect(try await writtenCommit() == "")
  }

  @Test(
    "The commit is that of the repository, also after a second one, and in a further working tree")
  func commits() async throws {
    let first = try await commit()
    #expect(first.count == 8)
    #expect(try await writtenCommit() == first)
    try repository.write("let a = 2", to: "Sources/A.swift")
    let second = try await commit()
    #expect(second != first)
    #expect(try await writtenCommit() == second)
    try await repository.git("worktree", "add", "--quiet", "../other", first)
    try await run("../other/scripts/write-commit", written.path)
    #expect(String(decoding: try Data(contentsOf: written), as: UTF8.self).contains(first))
  }

  @Test("Changed and new sources are mentioned; other files and a reverted change are not")
  func changes() async throws {
    let first = try await commit()
    try repository.write("a", to: "README.md")
    #expect(try await writtenCommit() == first)
    try repository.write("let a = 2", to: "Sources/A.swift")
    #expect(try await writtenCommit() == "\(first), with changes")
    try await repository.git("checkout", "--quiet", ".")
    #expect(try await writtenCommit() == first)
    try repository.write("let b = 1", to: "Sources/B.swift")
    #expect(try await writtenCommit() == "\(first), with changes")
  }

  @Test("The compiler is that of the argument, and empty if it does not tell its version")
  func compiler() async throws {
    for (output, expected) in [
      ("Swift version 6.3.1 (swift-6.3.1-RELEASE)", "Swift 6.3.1"),
      ("Apple Swift version 6.4 (swiftlang)", "Swift 6.4"), ("unknown", ""),
    ] {
      try repository.write("#!/bin/sh\necho '\(output)'\n", to: "compiler", isProgram: true)
      try await run(
        "scripts/write-commit", written.path,
        repository.project.appendingPathComponent("compiler").path)
      let text = String(decoding: try Data(contentsOf: written), as: UTF8.self)
      #expect(text.contains(#"static var compiler: String { "\#(expected)" }"#), "\(text)")
    }
  }

  @Test("A file that has the commit already is not written again")
  func unchanged() async throws {
    _ = try await commit()
    _ = try await writtenCommit()
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: written.path)
    _ = try await writtenCommit()
    let attributes = try FileManager.default.attributesOfItem(atPath: written.path)
    #expect(attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 0))
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("scripts/write-commit", .needs(.process))
struct WriteCommitTests {
  private let folder: TemporaryFolder
  private var project: URL { folder.path("project") }
  private var written: URL { folder.path("BuildCommit.swift") }

  /// A project of the script and one source, without a repository.
  init() throws {
    folder = try TemporaryFolder()
    let files = FileManager.default
    for name in ["scripts", "Sources"] {
      try files.createDirectory(
        at: project.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    try files.copyItem(
      at: SharedData.projectRoot.appendingPathComponent("scripts/write-commit"),
      to: project.appendingPathComponent("scripts/write-commit"))
    try write("let a = 1", to: "Sources/A.swift")
    try write("", to: "Package.swift")
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: project.appendingPathComponent(name))
  }

  /// Runs a command in the project's folder and returns its output without the last newline.
  @discardableResult
  nonisolated(nonsending) private func run(_ command: [String]) async throws -> String {
    let result = try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/env"), ["-C", project.path] + command,
      environment: [
        "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.url.path, "GIT_CONFIG_NOSYSTEM": "1",
      ])
    #expect(result.status == 0, "\(command): \(result.errors)")
    return result.output.trimmingCharacters(in: .newlines)
  }

  @discardableResult
  nonisolated(nonsending) private func git(_ arguments: String...) async throws -> String {
    try await run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com"] + arguments)
  }

  /// Makes a repository of the project with one commit, whose short hash is returned.
  nonisolated(nonsending) private func makeRepository() async throws -> String {
    try await git("init", "--quiet")
    try await git("add", ".")
    return try await commit()
  }

  nonisolated(nonsending) private func commit() async throws -> String {
    try await git("commit", "--quiet", "--all", "--allow-empty", "--message", "a")
    return try await git("rev-parse", "--short=8", "HEAD")
  }

  /// Runs the script and returns the commit in the file that it wrote.
  nonisolated(nonsending) private func writtenCommit() async throws -> String {
    try await run(["scripts/write-commit", written.path])
    let text = String(decoding: try Data(contentsOf: written), as: UTF8.self)
    return String(try #require(text.firstMatch(of: #/static var name: String \{ "(.*)" \}/#)).1)
  }

  @Test("Without a repository the commit is empty, also inside of another repository")
  func noRepository() async throws {
    #expect(try await writtenCommit() == "")
    try await git("-C", "..", "init", "--quiet")
    try await git("-C", "..", "add", ".")
    try await git("-C", "..", "commit", "--quiet", "--message", "a")
    #expect(try await writtenCommit() == "")
  }

  @Test(
    "The commit is that of the repository, also after a second one, and in a further working tree")
  func commits() async throws {
    let first = try await makeRepository()
    #expect(first.count == 8)
    #expect(try await writtenCommit() == first)
    try write("let a = 2", to: "Sources/A.swift")
    let second = try await commit()
    #expect(second != first)
    #expect(try await writtenCommit() == second)
    try await git("worktree", "add", "--quiet", "../other", first)
    try await run(["../other/scripts/write-commit", written.path])
    #expect(String(decoding: try Data(contentsOf: written), as: UTF8.self).contains(first))
  }

  @Test("Changed and new sources are mentioned; other files and a reverted change are not")
  func changes() async throws {
    let commit = try await makeRepository()
    try write("a", to: "README.md")
    #expect(try await writtenCommit() == commit)
    try write("let a = 2", to: "Sources/A.swift")
    #expect(try await writtenCommit() == "\(commit), with changes")
    try await git("checkout", "--quiet", ".")
    #expect(try await writtenCommit() == commit)
    try write("let b = 1", to: "Sources/B.swift")
    #expect(try await writtenCommit() == "\(commit), with changes")
  }

  @Test("The compiler is that of the argument, and empty if it does not tell its version")
  func compiler() async throws {
    for (output, expected) in [
      ("Swift version 6.3.1 (swift-6.3.1-RELEASE)", "Swift 6.3.1"),
      ("Apple Swift version 6.4 (swiftlang)", "Swift 6.4"), ("unknown", ""),
    ] {
      try write("#!/bin/sh\necho '\(output)'\n", to: "compiler")
      try await run(["chmod", "+x", "compiler"])
      try await run(["scripts/write-commit", written.path, project.path + "/compiler"])
      let text = String(decoding: try Data(contentsOf: written), as: UTF8.self)
      #expect(text.contains(#"static var compiler: String { "\#(expected)" }"#), "\(text)")
    }
  }

  @Test("A file that has the commit already is not written again")
  func unchanged() async throws {
    _ = try await makeRepository()
    _ = try await writtenCommit()
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: written.path)
    _ = try await writtenCommit()
    let attributes = try FileManager.default.attributesOfItem(atPath: written.path)
    #expect(attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 0))
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("scripts/build-release", .needs(.process))
struct BuildReleaseTests {
  private let repository: ScriptRepository

  /// A project whose compiler writes its arguments, and the folder behind that of the package.
  init() throws {
    repository = try ScriptRepository(with: "build-release", folders: ["../bin"])
    try setCompiler("exit 0")
  }

  /// Sets what the compiler does after it has written its arguments.
  private func setCompiler(_ command: String) throws {
    let program = """
      #!/bin/sh
      printf '%s\\n' "$@" >arguments
      (cd "$5" && pwd -P) >place
      \(command)
      """
    try repository.write(program, to: "../bin/swift", isProgram: true)
  }

  private var environment: [String: String] {
    ["PATH": "\(repository.folder.path("bin").path):/usr/local/bin:/usr/bin:/bin"]
  }

  /// Builds in a folder, by its path from the project.
  private func build(
    in folder: String = ".", _ options: String...
  ) async throws -> ChildProcess.Result {
    try await repository.run(
      ["\(folder)/scripts/build-release"] + options, environment: environment)
  }

  private func lines(_ name: String, in folder: String = ".") throws -> [String] {
    let file = repository.project.appendingPathComponent(folder).appendingPathComponent(name)
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// The link that the last build in a folder used.
  private func link(of folder: String = ".") throws -> String {
    try #require(try lines("arguments", in: folder).dropFirst(4).first)
  }

  private func exists(_ path: String) -> Bool {
    // Unlike `fileExists`, it does not follow a link. The error is that there is none.
    (try? FileManager.default.attributesOfItem(atPath: path)) != nil
  }

  @Test("Folders with paths of different lengths, also with spaces, get paths of one length")
  func oneLength() async throws {
    let longer = "../a much longer name of a folder"
    try FileManager.default.copyItem(
      at: repository.project, to: repository.project.appendingPathComponent(longer))
    var shapes: Set<[String]> = []
    for folder in [".", longer] {
      let result = try await build(in: folder)
      #expect(result.status == 0, "\(result.errors)")
      let place = repository.project.appendingPathComponent(folder).standardizedFileURL.path
      #expect(try lines("place", in: folder) == [place])
      let (arguments, link) = (try lines("arguments", in: folder), try link(of: folder))
      // SwiftPM resolves the link for the sources of the package, so the folder is mapped, too.
      let named = arguments.filter { $0.contains(place) }
      #expect(named.count == 3 && named.allSatisfy { $0.hasSuffix("\(place)=/src") }, "\(named)")
      #expect(link.wholeMatch(of: #/\/tmp\/firebreak-[0-9a-f]{16}/#) != nil)
      #expect(arguments.contains("\(link)=/src") && arguments.contains("\(link)/.build-release"))
      #expect(!exists(link))
      shapes.insert(
        arguments.map { $0.replacing(link, with: "LINK").replacing(place, with: "PLACE") })
    }
    #expect(shapes.count == 1)
    #expect(try link() != link(of: longer))
  }

  @Test("A static build has a folder and options of its own, and an unknown option is refused")
  func options() async throws {
    #expect(try await build("--static", "firebreak-benchmarks").status == 0)
    let arguments = try lines("arguments")
    #expect(arguments.contains("\(try link())/.build-static"))
    #expect(arguments.contains("--static-swift-stdlib"))
    #expect(arguments.contains("firebreak-benchmarks"))
    let unknown = try await build("firebreak-benchmarks", "--static")
    #expect(unknown.status == 2 && unknown.errors.contains("name one product"))
    let misspelt = try await build("--statik")
    #expect(misspelt.status == 2 && misspelt.errors.contains("no option --statik"))
  }

  @Test("The link is removed after a failure and after an interruption, which are the result")
  func removed() async throws {
    try setCompiler("exit 7")
    #expect(try await build().status == 7)
    #expect(!exists(try link()))
    // The shell cannot handle the other signals if the tests run in the background.
    try setCompiler("kill -TERM $PPID")
    #expect(try await build().status == 130)
    #expect(!exists(try link()))
  }

  @Test("The link of a build that was killed is replaced, also if it leads to another folder")
  func killed() async throws {
    try setCompiler("kill -KILL $PPID")
    #expect(try await build().status == -9)
    let link = try link()
    #expect(exists(link))
    defer { remove(link) }
    try setCompiler("exit 0")
    #expect(try await build().status == 0 && !exists(link))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nowhere")
    #expect(try await build().status == 0 && !exists(link))
    #expect(try lines("place") == [repository.project.path])
  }

  @Test("A folder in the place of the link is refused and left, and so is the link of another user")
  func foreign() async throws {
    #expect(try await build().status == 0)
    let link = try link()
    defer { remove(link) }
    try setCompiler("echo >compiled")
    try FileManager.default.createDirectory(atPath: link, withIntermediateDirectories: false)
    try await expectRefusal(of: link)
    try FileManager.default.removeItem(atPath: link)
    // Only root makes files of other users.
    guard geteuid() == 0 else { return }
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: repository.project.path)
    #expect(lchown(link, 1, 1) == 0)
    try await expectRefusal(of: link)
  }

  private func expectRefusal(of link: String) async throws {
    let result = try await build()
    #expect(result.status == 2 && result.errors.contains("\(link) is not a link of this user"))
    #expect(exists(link))
    #expect(!exists(repository.project.appendingPathComponent("compiled").path))
  }

  @Test("Of two builds in one folder the second says that it waits, also for a compiler alone")
  func waits() async throws {
    let script = URL(fileURLWithPath: "/usr/bin/env")
    let arguments = ["-C", repository.project.path, "scripts/build-release"]
    // The first build is killed, and its compiler goes on.
    try setCompiler(
      """
      [ -e first ] && exec cat built
      touch first && kill -KILL $PPID
      until [ -e go ]; do sleep 0.05; done
      echo complete >built
      """)
    try await ChildProcess.withRunning(script, arguments, environment: environment) { first in
      try await Patience.until { first.status == -9 }
      try await ChildProcess.withRunning(script, arguments, environment: environment) { second in
        try await Patience.until { try second.errors.contains("waits for another build") }
        #expect(exists(try link()))
        try repository.write("", to: "go")
        #expect(try await second.wait() == 0)
        #expect(try second.output == "complete\n")
      }
    }
    #expect(!exists(try link()))
  }
}

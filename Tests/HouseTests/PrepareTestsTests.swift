// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("scripts/prepare-tests", .needs(.process))
struct PrepareTestsTests {
  private let machine: ScriptSandbox

  init() throws {
    machine = try ScriptSandbox(for: "prepare-tests")
  }

  @Test("Every Python package is installed by its version, once, without further packages")
  func versions() async throws {
    try machine.add(
      "python3", "echo \"$@\" >&2; mkdir -p .build/test-packages; echo \"$@\" >>.build/calls")
    let first = try await machine.run()
    #expect(first.status == 0)
    #expect(first.lines.count == 1)
    #expect(first.lines.first?.contains("rootcanal==1.10.0 bumble==") == true)
    let second = try await machine.run()
    #expect(second.status == 0)
    #expect(second.lines.isEmpty)
    let calls = try machine.text("project/.build/calls").split(separator: "\n")
    #expect(calls.count == 1)
    let arguments = calls.first?.split(separator: " ") ?? []
    #expect(arguments.contains("--no-deps") && arguments.contains("--no-compile"))
    #expect(arguments.filter { $0.contains("==") }.count == 9)
  }

  @Test("The packages of a proof are in a folder of their own, so that neither replaces the other")
  func proofPackages() async throws {
    try machine.add(
      "python3", "mkdir -p .build/test-packages .build/proof-packages; echo \"$@\" >>.build/calls")
    for _ in 0..<2 {
      #expect(try await machine.run("--proof").status == 0)
      #expect(try await machine.run().status == 0)
    }
    let calls = try machine.text("project/.build/calls").split(separator: "\n")
    #expect(calls.count == 2)
    #expect(calls.first?.contains("--target .build/proof-packages moto==") == true)
    #expect(calls.last?.contains("--target .build/test-packages rootcanal==") == true)
  }

  @Test("If pip fails, one line names the packages and the log, and the next run tries again")
  func failure() async throws {
    try machine.add("python3", "echo 'no network' >&2; exit 1")
    for _ in 0..<2 {
      let result = try await machine.run()
      #expect(result.status == 0)
      #expect(result.lines.count == 2)
      #expect(result.lines.last?.contains("could not install rootcanal==") == true)
      #expect(result.lines.last?.contains(".build/prepare-tests.log") == true)
    }
  }

  @Test("A proof installs everything before its first tests")
  func proof() async throws {
    let lines = try await commands(of: "prove")
    let installed = lines.lastIndex { $0.contains("scripts/prepare") }
    let build = try #require(lines.firstIndex { $0.hasPrefix("swift build ") })
    let tests = try #require(lines.firstIndex { $0.hasPrefix("scripts/run-tests ") })
    #expect(try #require(installed) < build && build < tests)
    for package in ["libreoffice", "caddy", "python3-swift", "scripts/prepare-tests --proof"] {
      #expect(lines.contains { $0.contains(package) })
    }
  }

  @Test(
    "make test checks the format before it builds, and installs packages before what needs them")
  func order() async throws {
    let lines = try await commands(of: "test")
    func place(_ command: String) throws -> Int {
      try #require(lines.firstIndex { $0.hasPrefix(command) }, "\(command)")
    }
    let build = try place("swift build ")
    #expect(try place("swift format lint ") < build)
    let packages = try place("scripts/prepare python3 ")
    for command in ["scripts/prepare-bare-debian", "scripts/prepare-tests", "scripts/test-arm64"] {
      #expect(try packages < place(command), "\(command)")
    }
    #expect(try place("scripts/run-tests") == lines.indices.last && build < lines.count - 1)
  }

  /// The commands that `make` would run for `goal`.
  private func commands(of goal: String) async throws -> [Substring] {
    let plan = try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/env"),
      [
        "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "make", "-n", "--no-print-directory", "-C",
        SharedData.projectRoot.path, goal,
      ])
    #expect(plan.status == 0, "\(plan.errors)")
    return plan.output.split(separator: "\n")
  }
}

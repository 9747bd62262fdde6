// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("The phone of firebreak phone run without options", .needs(.process))
struct DefaultPhoneTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Runs the command of the README while `body` runs.
  private func running(
    _ body: nonisolated(nonsending) (_ page: String, ChildProcess) async throws -> Void
  ) async throws {
    let (program, arguments) = try Run.command(["phone", "run", "--web", "0"], in: folder.url)
    try await ChildProcess.withRunning(program, arguments) { process in
      try await Patience.until { try process.output.contains("Open http") || process.status != nil }
      let (output, errors) = (try process.output, try process.errors)
      let page = try #require(output.firstMatch(of: /Open (http\S+)/), "\(errors)").1
      try await body(String(page), process)
    }
  }

  private func command(_ words: String...) async throws -> Run {
    try await Run(["phone"] + words, workingFolder: folder.url)
  }

  @Test("It runs in an empty folder and serves its page, and its other commands need no options")
  func run() async throws {
    let missing = try await command("status")
    #expect(missing.status == 2 && missing.errors.contains("firebreak-phone does not exist"))
    #expect(folder.files().isEmpty)
    for start in 1...2 {
      try await running { page, process in
        let jar = folder.path("jar").path
        let answer = try await Shell.run("curl -s -L -b '\(jar)' -c '\(jar)' '\(page)'")
        #expect(answer.output.contains("<html"), "\(start): \(answer.output)")
        #expect(try process.errors.contains("There are no servers in firebreak-data"))
        let enabled = try await command("enable")
        #expect(enabled.status == 0, "\(enabled.errors)")
        let status = try await command("status", "--json").json()
        #expect(status?["enabled"] as? Bool == true)
        #expect(try await process.terminate() == 0)
      }
      #expect(try await command("status").status == 0)
    }
    let key = folder.path("firebreak-phone.key")
    let rights = try FileManager.default.attributesOfItem(atPath: key.path)[.posixPermissions]
    #expect(rights as? Int == 0o600)
  }

  @Test("It takes the root key of the servers beside it, and its own configuration before that")
  func servers() async throws {
    let served = try await ServedFirebreak(folder: folder)
    _ = try await served.addresses()
    #expect(try await served.stop() == 0)
    try FileManager.default.moveItem(
      at: folder.path("data"), to: folder.path("firebreak-data"))
    try await running { (_, process) async throws in
      #expect(try process.errors.isEmpty)
      #expect(try await process.terminate() == 0)
    }
    try Data("{}".utf8).write(to: folder.path("firebreak-phone/config.json"))
    let run = try await command("run", "--web", "0")
    #expect(run.status == 2 && run.errors.contains("firebreak-phone/config.json"), "\(run.errors)")
  }

  @Test("A lost key is not replaced by a new one, which could not decrypt the data")
  func lostKey() async throws {
    try await running { (_, process) async throws in
      #expect(try await command("enable").status == 0)
      #expect(try await process.terminate() == 0)
    }
    try FileManager.default.removeItem(at: folder.path("firebreak-phone.key"))
    let run = try await command("run", "--web", "0")
    #expect(run.status == 2 && run.errors.contains("firebreak-phone.key is missing"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("firebreak-phone.key").path))
  }
}

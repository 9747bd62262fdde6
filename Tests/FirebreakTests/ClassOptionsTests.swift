// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// `firebreak up --class` as a real process; Tests/WebAppTests hold whole lessons.
@Suite("firebreak up --class", .needs(.process), .timeLimit(.minutes(Patience.minutes)))
struct ClassOptionsTests {
  private func running<Value: Sendable>(
    _ options: [String], in folder: TemporaryFolder,
    _ body: nonisolated(nonsending) (ChildProcess) async throws -> Value
  ) async throws -> Value {
    try await ChildProcess.withRunning(
      try Run.product(), ["up", "--port", "0"] + options,
      environment: Run.environment(adding: ["TMPDIR": folder.url.path]), body: body)
  }

  private func status(_ address: String, _ options: String = "") async throws -> String {
    try await Shell.run("curl -s -o /dev/null -w '%{http_code}' \(options) '\(address)'").output
  }

  @Test("A class answers at its own addresses until it is stopped, and leaves nothing behind")
  func life() async throws {
    let folder = try TemporaryFolder()
    let options = ["--class", "--listen", "127.0.0.1", "--host", "school.example", "--json"]
    try await running(options, in: folder) { process in
      let line = try await process.firstLine() ?? ""
      let ready = try JSONDecoder().decode([String: JSONText].self, from: Data(line.utf8))
      let teacher = try #require(ready["teacher"]?.text)
      let join = try #require(ready["join"]?.text)
      #expect(join.hasPrefix("http://school.example:") && teacher.hasPrefix(join + "teacher?"))
      let local = join.replacing("school.example", with: "127.0.0.1")
      #expect(try await status(local) == "200")
      #expect(try await status(local + "teacher") == "403")
      #expect(try await status(local, "-H 'Host: other.example'") == "421")
      #expect(
        try await status(teacher.replacing("school.example", with: "127.0.0.1")) == "303")
      #expect(try await process.terminate() == 0)
      #expect(try process.errors.isEmpty)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test("A class for a whole network prints its addresses and warns that pages are not encrypted")
  func text() async throws {
    let folder = try TemporaryFolder()
    try await running(["--class", "2"], in: folder) { process in
      try await Patience.until { try process.output.contains("Press Ctrl-C") }
      let lines = try process.output.split(separator: "\n")
      #expect(lines.first == "The class is open for 2 browsers. Open the teacher's page:")
      #expect(lines.count == 4)
      try await Patience.until { try process.errors.contains("without encryption") }
      #expect(try process.errors.contains("without encryption"))
      #expect(try await process.terminate() == 0)
    }
  }

  @Test(
    "A size out of range, and options of a town or of no class, are refused with the reason",
    arguments: [
      (["--class", "1"], "--class takes 2 to 400 browsers"), (["--class", "401"], "2 to 400"),
      (["--class", "many"], "many"), (["--class", "--phones", "3"], "leave out --phones"),
      (["--class", "--data", "town"], "leave out --phones"),
      (["--class", "--fresh"], "leave out --phones"),
      (["--host", "school.example"], "add --class"),
      (["--class", "--listen", "school"], "--listen takes an IPv4 address"),
      (["--class", "--host", "http://school/"], "--host takes a name"),
      (["--class", "--host", String(repeating: "a", count: 151)], "--host takes a name"),
      (["--listen", "127.0.0.1"], "add --class"), (["--seed", "2"], "add --class"),
    ])
  func refused(options: [String], reason: String) async throws {
    let run = try await Run(["up", "--port", "0"] + options)
    #expect(run.status == 2)
    #expect(run.errors.contains(reason), "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test("An occupied port and an address of another machine are one line that says what to do")
  func addresses() async throws {
    let folder = try TemporaryFolder()
    try await running(["--class", "2", "--listen", "127.0.0.1", "--json"], in: folder) { process in
      let line = try await process.firstLine() ?? ""
      let port = try #require(line.firstMatch(of: /:(\d+)\//)).1
      let second = try await Run(["up", "--class", "2", "--port", String(port)])
      #expect(second.status == 3)
      #expect(second.errors.contains("Port \(port) is in use"), "\(second.errors)")
      #expect(second.errors.split(separator: "\n").count == 1)
    }
    let foreign = try await Run(["up", "--class", "2", "--port", "0", "--listen", "192.0.2.1"])
    #expect(foreign.status == 3)
    #expect(foreign.errors.contains("192.0.2.1 is not an address of this machine"))
    #expect(foreign.errors.split(separator: "\n").count == 1)
  }

  /// A JSON value of which only texts are read.
  private struct JSONText: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
      text = try? decoder.singleValueContainer().decode(String.self)
    }
  }
}

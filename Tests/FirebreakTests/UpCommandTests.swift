// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// `firebreak up` as real processes: servers, phones and the page of a town.
@Suite("firebreak up", .needs(.process), .timeLimit(.minutes(Patience.minutes)), .serialized)
struct UpCommandTests {
  private let folder: TemporaryFolder
  private let data: String

  init() throws {
    folder = try TemporaryFolder()
    data = folder.path("town").path
  }

  /// Runs a town of two phones while `body` runs.
  private func running<Value: Sendable>(
    _ options: [String] = [],
    _ body: nonisolated(nonsending) (ChildProcess, [String: Any]) async throws -> Value
  ) async throws -> Value {
    let arguments =
      ["up", "--data", data, "--port", "0", "--phones", "2", "--json"]
      + ["--starting-at", "1772442000"] + options
    return try await ChildProcess.withRunning(try Run.product(), arguments) { process in
      let line = try await process.firstLine()
      let errors = try process.errors
      let text = try #require(line, "\(errors)")
      let ready = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      return try await body(process, try #require(ready))
    }
  }

  /// The processes with the folder of the town in their arguments.
  private var processes: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
        name.allSatisfy(\.isNumber) && commandLine(of: name).contains(data)
      }
    }
  }

  private func commandLine(of process: String) -> String {
    FileManager.default.contents(atPath: "/proc/\(process)/cmdline")
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private func curl(_ arguments: String) async throws -> (status: String, body: String) {
    let jar = folder.path("jar").path
    let run = try await Shell.run(
      "curl -s -b '\(jar)' -c '\(jar)' -w '\\n%{http_code}' \(arguments)")
    let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
  }

  private func state(_ page: String) async throws -> [String: Any] {
    let (_, body) = try await curl("'\(page)/town/state'")
    return try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
  }

  private func person(_ name: String, _ page: String) async throws -> [String: Any] {
    let people = try await state(page)["people"] as? [[String: Any]]
    return people?.first { $0["name"] as? String == name } ?? [:]
  }

  /// The address of the page without the secret, after the secret became a cookie.
  private func admitted(_ ready: [String: Any]) async throws -> String {
    let address = try #require(ready["town"] as? String)
    #expect(try await curl("'\(address)'").status == "303")
    return String(address.prefix { $0 != "?" }.dropLast())
  }

  @discardableResult
  private func command(
    _ json: String, _ page: String, header: String = "x-firebreak-town: 1"
  ) async throws -> (status: String, body: String) {
    try await curl("-H '\(header)' --data '\(json)' '\(page)/town/commands'")
  }

  @Test("A town continues after its process was killed, and a second one on its folder is refused")
  func life() async throws {
    try await running { process, ready in
      let page = try await admitted(ready)
      #expect((ready["phones"] as? [[String: Any]])?.count == 2)
      #expect((ready["account"] as? [String: String])?["name"] == "admin")
      let console = try #require(ready["console"] as? String)
      #expect(try await curl("'\(console)/sign-in'").status == "200")
      try await Patience.until {
        let (ada, ben) = (try await person("ada", page), try await person("ben", page))
        return ada["isEnabled"] as? Bool == true && ben["sends"] as? Bool == true
      }
      #expect(try await person("ada", page)["isEnabled"] as? Bool == true)
      try await command(#"{"action":"move","name":"ada","x":3,"y":4}"#, page)
      try await command(#"{"action":"jump","seconds":86400}"#, page)
      let second = try await Run(["up", "--data", data, "--port", "0", "--phones", "2"])
      #expect(second.status == 2)
      #expect(second.errors.contains("already running"), "\(second.errors)")
      #expect(try processes.count >= 4)
      process.send(SIGKILL)
      try await Patience.until { try processes.isEmpty }
      #expect(try processes.isEmpty)
    }
    try await running { process, ready in
      let page = try await admitted(ready)
      #expect(ready["account"] == nil, "credentials are shown once")
      try await Patience.until { try await person("ada", page)["isEnabled"] as? Bool == true }
      #expect(try await person("ada", page)["isEnabled"] as? Bool == true)
      #expect(try await person("ada", page)["x"] as? Double == 3)
      let time = try #require(try await state(page)["time"] as? Double)
      #expect(time >= 1_772_442_000 + 86_400)
      #expect(try await process.terminate() == 0)
      try await Patience.until { try processes.isEmpty }
      #expect(try processes.isEmpty)
    }
    let note = folder.path("town/notes.txt")
    try Data("mine".utf8).write(to: note)
    try await running(["--fresh"]) { _, ready in
      let page = try await admitted(ready)
      #expect(FileManager.default.fileExists(atPath: note.path))
      let time = try #require(try await state(page)["time"] as? Double)
      #expect(time < 1_772_442_000 + 86_400)
      #expect(try await person("ada", page)["x"] as? Double != 3)
    }
  }

  @Test("If a process is killed, the town stops and reports the signal")
  func killed() async throws {
    try await running { process, _ in
      let servers = try #require(
        try processes.first { commandLine(of: $0).contains("\0serve\0") }.flatMap { Int32($0) })
      kill(servers, SIGKILL)
      #expect(try await process.wait() == 3)
      let errors = try process.errors
      #expect(errors.contains("servers stopped: signal 9"), "\(errors)")
    }
    try await Patience.until { try processes.isEmpty }
    #expect(try processes.isEmpty)
  }

  @Test("After a first start that was interrupted, the phones are turned on by the next one")
  func interrupted() async throws {
    try FileManager.default.createDirectory(
      atPath: data + "/phones/ada", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data("{}".utf8).write(to: folder.path("town/up.json"))
    try await running { _, ready in
      let page = try await admitted(ready)
      try await Patience.until { try await person("ada", page)["isEnabled"] as? Bool == true }
      #expect(try await person("ada", page)["isEnabled"] as? Bool == true)
    }
  }

  @Test(
    "The page answers to the owner's browser with the secret of this start, and to no other site")
  func checks() async throws {
    try await running { _, ready in
      let address = try #require(ready["town"] as? String)
      let page = String(address.prefix { $0 != "?" }.dropLast())
      #expect(try await curl("'\(page)/town/state'").status == "403")
      #expect(try await command(#"{"action":"tomorrow"}"#, page).status == "403")
      _ = try await admitted(ready)
      #expect(try await curl("'\(page)/town/state'").status == "200")
      #expect(try await curl("-H 'Host: example.org' '\(page)/town/state'").status == "403")
      #expect(
        try await curl("-H 'Origin: http://example.org' '\(page)/town/state'").status == "403")
      #expect(
        try await curl("-H 'Sec-Fetch-Site: cross-site' '\(page)/town/state'").status == "403")
      let rate = #"{"action":"rate","rate":60}"#
      #expect(try await command(rate, page, header: "accept: */*").status == "403")
      #expect(try await state(page)["rate"] as? Double == 1)
      #expect(try await command(rate, page).status == "200")
      #expect(try await state(page)["rate"] as? Double == 60)
      #expect(try await command("{", page).status == "400")
      #expect(
        try await command(#"{"action":"walk","name":"zoe","walks":true}"#, page).status == "409")
      let policy = try await curl("-D - -o /dev/null '\(page)/'").body.lowercased()
      #expect(policy.contains("content-security-policy: default-src 'none'; script-src 'self'"))
      #expect(try await curl("'\(page)/texts/pl.json'").status == "200")
      #expect(try await curl("'\(page)/../up.json'").status == "404")
    }
  }

  @Test("A diagnosed person gets a PIN of the verification server, listed with the messages")
  func diagnosis() async throws {
    try await running { _, ready in
      let page = try await admitted(ready)
      try await command(#"{"action":"rate","rate":60}"#, page)
      let issue = #"{"action":"issue","name":"ada"}"#
      #expect(try await command(issue, page).status == "409")
      #expect(try await command(#"{"action":"diagnose","name":"ada"}"#, page).status == "200")
      #expect(try await person("ada", page)["diagnosed"] is Double)
      #expect(try await command(issue, page).status == "200")
      let pin = try #require(try await person("ada", page)["pin"] as? String)
      #expect(pin.count == 6)
      #expect(try await state(page)["rate"] as? Double == 1)
      let messages = try await state(page)["messages"] as? [[String: Any]]
      let message = try #require(messages?.first { $0["kind"] as? String == "issue" })
      let sizes = (message["sent"] as? Int ?? 0, message["received"] as? Int ?? 0)
      #expect(sizes.0 > 20 && sizes.1 > 20, "both bodies are measured")
      #expect(try await person("ben", page)["pin"] == nil)
    }
  }

  @Test(
    "An occupied port and a folder with other files are refused with the reason, and start nothing")
  func refusals() async throws {
    let occupied = try LocalListener()
    let port = try await Run(["up", "--data", data, "--port", "\(occupied.port)", "--phones", "2"])
    #expect(port.status == 3)
    #expect(port.errors.contains("Port \(occupied.port) is in use"), "\(port.errors)")
    #expect(port.errors.split(separator: "\n").count == 1)
    try Data("mine".utf8).write(to: folder.path("notes.txt"))
    let foreign = try await Run(["up", "--data", folder.url.path, "--port", "0", "--fresh"])
    #expect(foreign.status == 2)
    #expect(foreign.errors.contains("is not the folder of a town"), "\(foreign.errors)")
    #expect(FileManager.default.fileExists(atPath: folder.path("notes.txt").path))
    let file = try await Run(["up", "--data", folder.path("notes.txt").path, "--port", "0"])
    #expect(file.status == 2 && file.errors.contains("notes.txt is a file"), "\(file.errors)")
    for (phones, status) in [("1", Int32(2)), ("13", 2)] {
      #expect(try await Run(["up", "--data", data, "--phones", phones]).status == status)
    }
    #expect(try processes.isEmpty)
  }
}

@Suite("Option --clock-file", .needs(.process)) struct ClockFileOptionTests {
  @Test(
    "Without --developer, beside --clock-offset, or with a file that is not a clock it is refused",
    arguments: [
      (["--clock-file", "FILE"], "add --developer"),
      (["--developer", "--clock-file", "FILE", "--clock-offset", "5"], "not both"),
      (["--developer", "--clock-file", "FILE"], "is not the clock of a rehearsal"),
    ])
  func refused(options: [String], reason: String) async throws {
    let folder = try TemporaryFolder()
    let file = folder.path("clock")
    try Data("12:00".utf8).write(to: file)
    let given = options.map { $0 == "FILE" ? file.path : $0 }
    let serve = try await Run(["serve", "--port", "0", "--data", folder.path("data").path] + given)
    #expect(serve.status == 2)
    #expect(serve.errors.contains(reason), "\(serve.errors)")
  }
}
